/** All layers of a policy together, the same as `LayerStack` in core. A state has a list of cells per layer. */
export const stack = `
local function isGap(layer)
  return layer.rule == 'interval' or layer.rule == 'adaptive'
end

local function stackFork(stack, cells)
  local copy = {}
  for index = 1, #stack do copy[index] = forkCells(stack[index], cells[index]) end
  return copy
end

-- The earliest moment that every layer permits, and the layer that is the last to.
local function stackEarliest(stack, cells, nowMs, cost)
  local departMs, binding = nowMs, 'none'
  for index = 1, #stack do
    local layer = stack[index]
    local layerMs = layerEarliest(layer, cells[index], nowMs, cost)
    if layerMs > departMs then departMs, binding = layerMs, layer.name end
  end
  if departMs <= nowMs + nanosecondMs then return nowMs, 'none' end
  return departMs, binding
end

local function stackCharge(stack, cells, departMs, cost)
  for index = 1, #stack do layerCharge(stack[index], cells[index], departMs, cost) end
end

-- A departure that has been charged was on the wire only at sentMs: intervals count from there.
local function measureIntervalFrom(stack, cells, sentMs, cost)
  for index = 1, #stack do
    if isGap(stack[index]) then layerCharge(stack[index], cells[index], sentMs, cost) end
  end
end

-- Whether there is a layer that says how fast to go, beside the quotas.
local function isPaced(stack, cells)
  for index = 1, #stack do
    local layer = stack[index]
    if layer.rule == 'bucket' or (layer.name ~= 'quota' and layerIsStrict(layer, cells[index], 0)) then return true end
  end
  return false
end

-- From atMs on requests come one by one. Quotas are spread over their windows only where nothing else paces.
local function stackRestart(stack, cells, atMs)
  local paced = isPaced(stack, cells)
  for index = 1, #stack do
    local layer = stack[index]
    if not paced or layer.name ~= 'quota' then layerRestart(layer, cells[index], atMs) end
  end
end

local function stackRecoveredAt(stack, cells)
  local latestMs = -huge
  for index = 1, #stack do latestMs = max(latestMs, layerRecoveredAt(stack[index], cells[index])) end
  return latestMs
end

local function stackIsStrict(stack, cells, lateMs)
  for index = 1, #stack do
    if layerIsStrict(stack[index], cells[index], lateMs) then return true end
  end
  return false
end

local function stackLearn(stack, cells, learned, nowMs)
  for index = 1, #stack do layerLearn(stack[index], cells[index], learned, nowMs) end
end

-- Charges one of many departures that several made near departMs, each within its share: windows count them all, and
-- whatever spaces departures starts again from there.
local function stackSpend(stack, cells, departMs, cost)
  for index = 1, #stack do
    local layer = stack[index]
    if layer.rule == 'bucket' then
      layerRestart(layer, cells[index], departMs)
    else
      layerCharge(layer, cells[index], departMs, isGap(layer) and 1 or cost)
    end
  end
end

-- Takes credit away from each layer that has more than it should have. What is published needs no correction.
local function stackLower(stack, cells, credits, nowMs)
  for index = 1, #stack do
    local layer = stack[index]
    local excess = layerCredit(layer, cells[index], nowMs) - max(0, credits[index] or 0)
    if excess > 0 and layer.rule ~= 'published' then layerCharge(layer, cells[index], nowMs, ceil(excess)) end
  end
end

-- The first layer of the former stack that fits and that no other has taken over yet.
local function formerOf(layer, former, isTaken)
  for index = 1, #former do
    if not isTaken[index] and former[index].rule == layer.rule then return index end
  end
  for index = 1, #former do
    if not isTaken[index] and isGap(former[index]) and isGap(layer) then return index end
  end
  return nil
end

-- By when all had left whom a state knows of: each layer remembers a departure for at least as long as it is to come.
local function departedBy(stack, cells)
  local earliestMs = huge
  for index = 1, #stack do
    local recoveredMs = layerRecoveredAt(stack[index], cells[index])
    if stack[index].rule ~= 'published' and recoveredMs > -huge then earliestMs = min(earliestMs, recoveredMs) end
  end
  return earliestMs == huge and -huge or earliestMs
end

-- Takes over the credit used under another policy.
local function stackAdopt(stack, cells, former, formerCells, nowMs)
  local isTaken = {}
  for index = 1, #stack do
    local layer = stack[index]
    local source = formerOf(layer, former, isTaken)
    if source ~= nil then
      isTaken[source] = true
      layerAdopt(layer, cells[index], former[source], formerCells[source], nowMs)
    elseif layer.rule == 'interval' then
      -- Nobody has kept when the last one left, only by when it had.
      local departedMs = min(nowMs, departedBy(former, formerCells))
      if departedMs > -huge then layerCharge(layer, cells[index], departedMs, 1) end
    end
  end
end
`
