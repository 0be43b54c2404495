/**
 * The exact log of a quota. All of its entries but the newest stand in a list of the server, packed as two doubles
 * each, and are read only as far as a call needs them; what a call adds is kept aside until it ends.
 */
export const windowLog = `
local pageSize = 64

-- A quota that starts again gently comes free in so many parts at the most.
local mostParts = 10000

-- newestMs is the time of the entry that came last, lastMs the latest of all. A correction may come out of
-- order; isMixed tells that one has.

-- What stands in a list that no state knows of is of no worth, so the first to write to it clears it.
local function freshLog()
  return {
    count = 0, first = 0, used = 0, newestMs = -huge, newestCost = 0, lastMs = -huge, isMixed = false, added = {},
    isCleared = true,
  }
end

local function packLog(cells)
  local dropped = min(cells.first, cells.count)
  return {
    cells.count - dropped + (#cells.added - 2 * (cells.first - dropped)) / 2, cells.used, cells.newestMs, cells.newestCost,
    cells.lastMs, cells.isMixed,
  }
end

local function unpackLog(packed)
  return {
    count = packed[1], first = 0, used = packed[2], newestMs = packed[3], newestCost = packed[4],
    lastMs = packed[5], isMixed = packed[6], added = {}, isCleared = false,
  }
end

-- What a copy adds is its own; the list of the server is the same for all copies.
local function forkLog(cells)
  local added = {}
  for index = 1, #cells.added do added[index] = cells.added[index] end
  return {
    count = cells.count, first = cells.first, used = cells.used, newestMs = cells.newestMs,
    newestCost = cells.newestCost, lastMs = cells.lastMs, isMixed = cells.isMixed, added = added, isCleared = cells.isCleared,
  }
end

local function readPage(layer, from)
  local page = redis.call('LRANGE', layer.key, from, from + pageSize - 1)
  for index = 1, #page do
    local departMs, cost = struct.unpack('>dd', page[index])
    layer.times[from + index - 1], layer.costs[from + index - 1] = departMs, cost
  end
end

-- The entry number index, from 0 on; nil if the list has lost it.
local function logEntry(layer, cells, index)
  if index < cells.count then
    if layer.times[index] == nil then readPage(layer, index) end
    return layer.times[index], layer.costs[index]
  end
  local place = 2 * (index - cells.count)
  if place < #cells.added then return cells.added[place + 1], cells.added[place + 2] end
  return cells.newestMs, cells.newestCost
end

-- A list that is gone while its entries still count: all that was used counts as if it had left with the newest.
local function mendLog(cells)
  cells.count, cells.first, cells.added, cells.isCleared = 0, 0, {}, true
  cells.newestMs, cells.newestCost = cells.lastMs, cells.used
end

local function logTotal(cells)
  return cells.count + #cells.added / 2
end

local function logEarliest(layer, cells, nowMs, cost)
  local departMs = max(nowMs, cells.newestMs)
  local used = cells.used
  if used + cost <= layer.limit or cells.lastMs + layer.windowMs <= nowMs then return departMs end
  for index = cells.first, logTotal(cells) do
    local atMs, entryCost = logEntry(layer, cells, index)
    if atMs == nil then
      mendLog(cells)
      return logEarliest(layer, cells, nowMs, cost)
    end
    local leavesWindowMs = atMs + layer.windowMs
    if leavesWindowMs > departMs then
      if used + cost <= layer.limit then break end
      departMs = leavesWindowMs
    end
    used = used - entryCost
  end
  return departMs
end

local function startLogAnew(cells, departMs, cost)
  cells.isCleared = cells.isCleared or cells.count > 0
  cells.count, cells.first, cells.added = 0, 0, {}
  cells.used, cells.newestMs, cells.newestCost, cells.lastMs = cost, departMs, cost, departMs
  cells.isMixed = false
end

local function logCharge(layer, cells, departMs, cost)
  if cells.newestMs + layer.windowMs <= departMs then return startLogAnew(cells, departMs, cost) end
  local total = logTotal(cells)
  while cells.first < total do
    local atMs, entryCost = logEntry(layer, cells, cells.first)
    if atMs == nil then
      mendLog(cells)
      break
    end
    if atMs + layer.windowMs > departMs then break end
    cells.used = cells.used - entryCost
    cells.first = cells.first + 1
  end
  if cells.newestMs == departMs then
    cells.newestCost = cells.newestCost + cost
  else
    local added = cells.added
    added[#added + 1] = cells.newestMs
    added[#added + 1] = cells.newestCost
    cells.newestMs, cells.newestCost = departMs, cost
  end
  if departMs < cells.lastMs then cells.isMixed = true end
  cells.lastMs = max(cells.lastMs, departMs)
  cells.used = cells.used + cost
end

local function logCredit(layer, cells, nowMs)
  if cells.lastMs + layer.windowMs <= nowMs then return layer.limit end
  local used = cells.used
  for index = cells.first, logTotal(cells) do
    local atMs, entryCost = logEntry(layer, cells, index)
    if atMs == nil then
      mendLog(cells)
      return max(0, layer.limit - cells.used)
    end
    if atMs + layer.windowMs <= nowMs then
      used = used - entryCost
    elseif not cells.isMixed then
      break
    end
  end
  return max(0, layer.limit - used)
end

-- All entries that may still count: time, cost, time, cost, ...
local function logEntries(layer, cells)
  local entries = {}
  if cells.newestMs == -huge then return entries end
  for index = cells.first, logTotal(cells) do
    local atMs, cost = logEntry(layer, cells, index)
    if atMs ~= nil then
      entries[#entries + 1] = atMs
      entries[#entries + 1] = cost
    end
  end
  return entries
end

-- Sets the log to such entries; the list of the server gives way to them.
local function loadLog(cells, entries)
  local size = #entries
  cells.isCleared, cells.count, cells.first, cells.used = true, 0, 0, 0
  cells.newestMs, cells.newestCost = entries[size - 1] or -huge, entries[size] or 0
  cells.lastMs, cells.isMixed = -huge, false
  for place = 1, size, 2 do
    cells.used = cells.used + entries[place + 1]
    cells.isMixed = cells.isMixed or entries[place] < cells.lastMs
    cells.lastMs = max(cells.lastMs, entries[place])
  end
  entries[size - 1], entries[size] = nil, nil
  cells.added = entries
end

local function sortEntries(entries)
  local pairsOf, sorted = {}, {}
  for place = 1, #entries, 2 do pairsOf[#pairsOf + 1] = { entries[place], entries[place + 1] } end
  sortBy(pairsOf, function(entry) return entry[1] end)
  for index, entry in ipairs(pairsOf) do sorted[2 * index - 1], sorted[2 * index] = entry[1], entry[2] end
  return sorted
end

-- As if what is unused, all but one request, had been used evenly.
local function logRestart(layer, cells, atMs)
  local missing = logCredit(layer, cells, atMs) - 1
  if missing < 1 and not cells.isMixed then return end
  local present, merged, next = logEntries(layer, cells), {}, 1
  if cells.isMixed then present = sortEntries(present) end
  local part, used = ceil(missing / mostParts), 0
  while used < missing do
    local cost = min(part, missing - used)
    used = used + cost
    local usedAtMs = atMs - layer.windowMs + (used * layer.windowMs) / (missing + 1)
    while present[next] and present[next] <= usedAtMs do
      merged[#merged + 1], merged[#merged + 2] = present[next], present[next + 1]
      next = next + 2
    end
    merged[#merged + 1], merged[#merged + 2] = usedAtMs, cost
  end
  for place = next, #present do merged[#merged + 1] = present[place] end
  loadLog(cells, merged)
end

-- Brings the list of the server up to what the call has made of it.
local function writeLog(layer, cells)
  if cells.isCleared then
    redis.call('DEL', layer.key)
  elseif cells.first > 0 and cells.count > 0 then
    redis.call('LTRIM', layer.key, min(cells.first, cells.count), -1)
  end
  local added = cells.added
  local from = 2 * max(0, cells.first - cells.count) + 1
  if from > #added then return end
  for place = from, #added, 2 do
    redis.call('RPUSH', layer.key, struct.pack('>dd', added[place], added[place + 1]))
  end
  redis.call('PEXPIRE', layer.key, toTtl(ceil(layer.windowMs)))
end
`
