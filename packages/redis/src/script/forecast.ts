/** Departures among those that are promised already, the same as `Forecast` in core. */
export const forecast = `
-- When a slot departs: one that is held and overdue leaves just now.
local function timeOf(slot, nowMs)
  return slot.held and max(slot.departAtMs, nowMs) or slot.departAtMs
end

-- cells is a copy of the credit, which the forecast uses up.
local function newForecast(stack, cells, slots, nowMs)
  local ordered = {}
  for index = 1, #slots do ordered[index] = slots[index] end
  sortBy(ordered, function(slot) return timeOf(slot, nowMs) end)
  return { stack = stack, cells = cells, slots = ordered, upcoming = 1, nowMs = nowMs, floorMs = nowMs, floorLayer = 'none' }
end

-- Whoever comes next departs no earlier than floorMs, because of one in front who waits for layer.
local function notBefore(forecast, floorMs, layer)
  if floorMs <= forecast.floorMs then return end
  forecast.floorMs, forecast.floorLayer = floorMs, layer
end

-- Whether the promised ones still hold if cost departs at departMs.
local function leavesRoom(forecast, departMs, cost)
  local stack, slots = forecast.stack, forecast.slots
  local trial = stackFork(stack, forecast.cells)
  stackCharge(stack, trial, departMs, cost)
  for index = forecast.upcoming, #slots do
    local slot = slots[index]
    local timeMs = timeOf(slot, forecast.nowMs)
    if stackEarliest(stack, trial, timeMs, slot.cost) > timeMs then return false end
    stackCharge(stack, trial, timeMs, slot.cost)
  end
  return true
end

-- The departure that the next in line would have, and the layer that asks for the wait.
local function findDeparture(forecast, cost)
  local bound = forecast.floorLayer
  while true do
    local departMs, binding = stackEarliest(forecast.stack, forecast.cells, forecast.floorMs, cost)
    if binding ~= 'none' then bound = binding end
    local slot = forecast.slots[forecast.upcoming]
    if slot == nil or (departMs <= timeOf(slot, forecast.nowMs) and leavesRoom(forecast, departMs, cost)) then
      return departMs, departMs > forecast.nowMs and bound or 'none'
    end
    local slotMs = timeOf(slot, forecast.nowMs)
    stackCharge(forecast.stack, forecast.cells, slotMs, slot.cost)
    forecast.floorMs = max(forecast.floorMs, slotMs)
    forecast.upcoming = forecast.upcoming + 1
  end
end

-- Lets the request depart that was found.
local function takeDeparture(forecast, departMs, binding, cost)
  stackCharge(forecast.stack, forecast.cells, departMs, cost)
  notBefore(forecast, departMs, binding)
end
`
