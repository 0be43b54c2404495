/** The arithmetic of the rules, layer by layer, the same as that of the layers in core. */
export const layers = `
-- Sums of fractions are off by a few parts in 10^16; a moment less than a nanosecond ahead is now.
local nanosecondMs = 1e-6

-- Weighted counts are sums of fractions; so much is taken for a rounding error.
local tolerance = 1e-9

-- How many published limits of one host are kept apart.
local mostPublished = 4

-- cells of an interval and of a learned gap: { free at, gap }; of a bucket: { full at }; of a window that is counted:
-- { window, its count, the count of the one before }; of what is published: { last departure, limit, limit, ... } with
-- limit = { left, reset at, limit, window, free at } or false.
local function freshCells(layer)
  local rule = layer.rule
  if rule == 'log' then return freshLog() end
  if rule == 'adaptive' then return { -huge, layer.startMs } end
  if rule == 'counter' then return { -huge, 0, 0 } end
  if rule == 'fixed' then return { -huge, 0 } end
  if rule == 'published' then return { -huge, false, false, false, false } end
  return { -huge }
end

local function forkCells(layer, cells)
  if layer.rule == 'log' then return forkLog(cells) end
  if layer.rule ~= 'published' then return { cells[1], cells[2], cells[3] } end
  local copy = { cells[1] }
  for place = 2, mostPublished + 1 do
    local limit = cells[place]
    copy[place] = limit and { limit[1], limit[2], limit[3], limit[4], limit[5] }
  end
  return copy
end

local function counterWindow(layer, cells, nowMs)
  return max(cells[1], floor(nowMs / layer.windowMs))
end

local function counterCount(cells, window)
  if window == cells[1] then return cells[2] end
  return window == cells[1] - 1 and cells[3] or 0
end

-- From when on in this window the weighted count leaves room for cost; nil if not within it.
local function counterPermits(layer, window, previous, current, cost)
  local room = layer.limit - current - cost
  if room >= previous - tolerance then return window * layer.windowMs end
  if room < -tolerance then return nil end
  return (window + 1 - max(0, room) / previous) * layer.windowMs
end

local function counterEarliest(layer, cells, nowMs, cost)
  local window = counterWindow(layer, cells, nowMs)
  local current = counterCount(cells, window)
  local departMs = counterPermits(layer, window, counterCount(cells, window - 1), current, cost)
  return max(nowMs, departMs or counterPermits(layer, window + 1, current, 0, cost))
end

local function counterCharge(layer, cells, departMs, cost)
  local window = counterWindow(layer, cells, departMs)
  local previous = counterCount(cells, window - 1)
  cells[2] = counterCount(cells, window) + cost
  cells[3] = previous
  cells[1] = window
end

local function publishedEarliest(cells, nowMs, cost)
  local departMs = nowMs
  for place = 2, mostPublished + 1 do
    local limit = cells[place]
    if limit then
      departMs = max(departMs, limit[5])
      if limit[1] < cost and limit[2] > departMs then departMs = limit[2] end
    end
  end
  return departMs
end

local function spreadMs(remaining, leftMs)
  return max(0, leftMs) / max(1, remaining)
end

-- Begins the window that nowMs lies in; false if nothing is known of it.
local function turnOver(limit, nowMs)
  if limit[3] == 0 or limit[4] == 0 then return false end
  limit[1] = limit[3]
  limit[2] = limit[2] + (floor((nowMs - limit[2]) / limit[4]) + 1) * limit[4]
  return limit
end

local function publishedCharge(cells, departMs, cost)
  for place = 2, mostPublished + 1 do
    local limit = cells[place]
    if limit and departMs >= limit[2] then
      limit = turnOver(limit, departMs)
      cells[place] = limit
    end
    if limit then
      local gapMs = spreadMs(limit[1], limit[2] - departMs)
      limit[1] = max(0, limit[1] - cost)
      limit[5] = departMs + cost * gapMs
    end
  end
  cells[1] = departMs
end

-- The earliest moment from nowMs on that a layer permits.
local function layerEarliest(layer, cells, nowMs, cost)
  local rule = layer.rule
  if rule == 'interval' or rule == 'adaptive' then return max(cells[1], nowMs) end
  if rule == 'bucket' then
    local enoughAtMs = cells[1] - (layer.capacity - cost) * layer.msPerToken
    return enoughAtMs > nowMs + nanosecondMs and enoughAtMs or nowMs
  end
  if rule == 'log' then return logEarliest(layer, cells, nowMs, cost) end
  if rule == 'counter' then return counterEarliest(layer, cells, nowMs, cost) end
  if rule == 'fixed' then
    local window = cells[2] + cost <= layer.limit and cells[1] or cells[1] + 1
    return max(nowMs, window * layer.windowMs)
  end
  return publishedEarliest(cells, nowMs, cost)
end

-- Takes the credit of a departure.
local function layerCharge(layer, cells, departMs, cost)
  local rule = layer.rule
  if rule == 'interval' then
    cells[1] = max(cells[1], departMs + cost * layer.intervalMs)
  elseif rule == 'adaptive' then
    cells[1] = max(cells[1], departMs + cost * cells[2])
  elseif rule == 'bucket' then
    cells[1] = max(cells[1], departMs) + cost * layer.msPerToken
  elseif rule == 'log' then
    logCharge(layer, cells, departMs, cost)
  elseif rule == 'counter' then
    counterCharge(layer, cells, departMs, cost)
  elseif rule == 'fixed' then
    local window = floor(departMs / layer.windowMs)
    if window > cells[1] then cells[1], cells[2] = window, 0 end
    cells[2] = cells[2] + cost
  else
    publishedCharge(cells, departMs, cost)
  end
end

-- How many requests might leave at nowMs.
local function layerCredit(layer, cells, nowMs)
  local rule = layer.rule
  if rule == 'interval' or rule == 'adaptive' then return cells[1] > nowMs and 0 or 1 end
  if rule == 'bucket' then return max(0, layer.capacity - max(0, cells[1] - nowMs) / layer.msPerToken) end
  if rule == 'log' then return logCredit(layer, cells, nowMs) end
  if rule == 'counter' then
    local window = counterWindow(layer, cells, nowMs)
    local share = min(1, window + 1 - nowMs / layer.windowMs)
    return max(0, layer.limit - (counterCount(cells, window - 1) * share + counterCount(cells, window)))
  end
  if rule == 'fixed' then
    return max(0, layer.limit - (floor(nowMs / layer.windowMs) > cells[1] and 0 or cells[2]))
  end
  return publishedEarliest(cells, nowMs, 1) > nowMs and 0 or 1
end

local function counterRestart(layer, cells, atMs)
  if layerCredit(layer, cells, atMs) <= 1 then return end
  -- As if all but one request had been used evenly, in the window before and so far in this one.
  local window = counterWindow(layer, cells, atMs)
  local current = counterCount(cells, window)
  local used = layer.limit - 1
  cells[1] = window
  cells[2] = max(current, used * max(0, atMs / layer.windowMs - window))
  cells[3] = used
end

-- Lowers the credit so that from atMs on requests come one by one. A gap does so as it is, and what is published.
local function layerRestart(layer, cells, atMs)
  local rule = layer.rule
  if rule == 'bucket' then
    cells[1] = max(cells[1], atMs + (layer.capacity - 1) * layer.msPerToken)
  elseif rule == 'log' then
    logRestart(layer, cells, atMs)
  elseif rule == 'counter' then
    counterRestart(layer, cells, atMs)
  elseif rule == 'fixed' then
    local used = layer.limit - min(1, layerCredit(layer, cells, atMs))
    cells[1] = max(cells[1], floor(atMs / layer.windowMs))
    cells[2] = used
  end
end

-- From when on the state says no more than that of a host never asked.
local function layerRecoveredAt(layer, cells)
  local rule = layer.rule
  if rule == 'log' then return cells.newestMs + layer.windowMs end
  if rule == 'counter' then return (cells[1] + 2) * layer.windowMs end
  if rule == 'fixed' then return (cells[1] + 1) * layer.windowMs end
  if rule ~= 'published' then return cells[1] end
  local atMs = -huge
  for place = 2, mostPublished + 1 do
    local limit = cells[place]
    if limit then atMs = max(atMs, limit[2], limit[5]) end
  end
  return atMs
end

-- Whether one that departs up to lateMs late brings the next too near.
local function layerIsStrict(layer, cells, lateMs)
  local rule = layer.rule
  if rule == 'interval' then return true end
  if rule == 'adaptive' then return cells[2] > 0 end
  if rule == 'bucket' then return layer.capacity < 2 end
  if rule ~= 'published' then return layer.windowMs < 4 * lateMs end
  return (cells[2] or cells[3] or cells[4] or cells[5]) and true or false
end

-- Takes in what was learned of the host.
local function layerLearn(layer, cells, learned, nowMs)
  if layer.rule == 'adaptive' then
    local gapMs = learned.gap and learned.gap.gapMs or layer.startMs
    cells[1] = cells[1] - cells[2] + gapMs
    cells[2] = gapMs
  elseif layer.rule == 'published' then
    local tightest = {}
    for _, limit in ipairs(learned.published or {}) do
      if limit.remaining and limit.resetAtMs then tightest[#tightest + 1] = limit end
    end
    sortBy(tightest, function(limit) return -spreadMs(limit.remaining, limit.resetAtMs - nowMs) end)
    for place = 2, mostPublished + 1 do
      local known = tightest[place - 1]
      cells[place] = known and { known.remaining, known.resetAtMs, known.limit or 0, known.windowMs or 0, -huge } or false
      if known and nowMs < known.resetAtMs then
        cells[place][5] = cells[1] + spreadMs(known.remaining, known.resetAtMs - max(nowMs, cells[1]))
      end
    end
  end
end

-- The gap from one departure to the next, of an interval or a learned gap.
local function gapOf(layer, cells)
  return layer.rule == 'interval' and layer.intervalMs or cells[2]
end

-- Takes over the credit that was used under another layer of the same kind.
local function layerAdopt(layer, cells, former, formerCells, nowMs)
  local rule = layer.rule
  if rule == 'interval' then
    cells[1] = formerCells[1] - gapOf(former, formerCells) + layer.intervalMs
  elseif rule == 'adaptive' then
    cells[2] = former.rule == 'adaptive' and formerCells[2] or layer.startMs
    cells[1] = formerCells[1] - gapOf(former, formerCells) + cells[2]
  elseif rule == 'bucket' then
    local missing = max(0, formerCells[1] - nowMs) / former.msPerToken
    cells[1] = missing > 0 and nowMs + missing * layer.msPerToken or -huge
  elseif rule == 'log' then
    loadLog(cells, logEntries(former, formerCells))
  elseif rule == 'published' then
    for place = 1, mostPublished + 1 do cells[place] = formerCells[place] end
  else
    local used = former.limit - layerCredit(former, formerCells, nowMs)
    if former.windowMs == layer.windowMs then
      for place = 1, 3 do cells[place] = formerCells[place] end
    elseif used > 0 then
      layerCharge(layer, cells, nowMs, used)
    end
  end
end
`
