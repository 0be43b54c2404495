/** What is promised and has not happened yet, the same as `SlotBook` in core. */
export const slotBook = `
-- How long after its time somebody may still come for a slot that is not held.
local claimableMs = 1000

local function addSlot(book, slot)
  local slots = book.slots
  local place = #slots
  book.areAllHeld = book.areAllHeld and slot.held
  while place > 0 and slots[place].departAtMs > slot.departAtMs do place = place - 1 end
  table.insert(slots, place + 1, slot)
end

local function placeOf(book, name)
  local slots = book.slots
  for place = 1, #slots do
    if slots[place].name == name then return place end
  end
  return nil
end

local function isPaused(book)
  return book.pausedUntilMs ~= -huge
end

-- The credit speaks of what was until atMs.
local function chargedUntil(book, atMs)
  book.chargedMs = max(book.chargedMs, atMs)
end

-- After a pause a host restarts gently.
local function endPause(book, stack, cells, byMs)
  if not isPaused(book) or book.pausedUntilMs > byMs then return end
  stackRestart(stack, cells, book.pausedUntilMs)
  chargedUntil(book, book.pausedUntilMs)
  book.pausedUntilMs = -huge
end

local function chargeBook(book, stack, cells, departMs, cost)
  stackCharge(stack, cells, departMs, cost)
  chargedUntil(book, departMs)
end

-- Moves into the credit what has happened by now, in order: slots whose time is over, and the end of a pause.
local function settle(book, stack, cells, nowMs)
  local pauseEnds = isPaused(book) and book.pausedUntilMs <= nowMs
  local overBeforeMs = pauseEnds and nowMs or nowMs - claimableMs
  local kept = {}
  for _, slot in ipairs(book.slots) do
    if slot.held or slot.departAtMs >= overBeforeMs then
      kept[#kept + 1] = slot
    else
      endPause(book, stack, cells, slot.departAtMs)
      chargeBook(book, stack, cells, slot.departAtMs, slot.cost)
    end
  end
  book.slots = kept
  endPause(book, stack, cells, nowMs)
end

local function forecastAmong(book, slots, stack, cells, nowMs)
  local copy = stackFork(stack, cells)
  if not isPaused(book) then return newForecast(stack, copy, slots, nowMs) end
  -- What is over before the pause ends is charged before the host restarts, as when it is settled.
  local ahead = {}
  for _, slot in ipairs(slots) do
    if not slot.held and slot.departAtMs < book.pausedUntilMs then
      stackCharge(stack, copy, slot.departAtMs, slot.cost)
    else
      ahead[#ahead + 1] = slot
    end
  end
  stackRestart(stack, copy, book.pausedUntilMs)
  local forecast = newForecast(stack, copy, ahead, nowMs)
  notBefore(forecast, book.pausedUntilMs, 'pause')
  return forecast
end

-- A forecast of what may depart among the promised ones.
local function bookForecast(book, stack, cells, nowMs)
  settle(book, stack, cells, nowMs)
  return forecastAmong(book, book.slots, stack, cells, nowMs)
end

-- Whether a slot is for one who stands behind, and is still ahead: one with a later time, or of the same worker with a
-- higher number.
local function makesRoom(slot, order, departAtMs, nowMs, worker)
  local isBehind = slot.departAtMs > departAtMs or (slot.order > order and slot.worker == worker)
  return isBehind and timeOf(slot, nowMs) > nowMs
end

-- A forecast for one who came as number order, and was promised departAtMs before: what was promised to those behind
-- makes room.
local function forecastAhead(book, stack, cells, nowMs, order, departAtMs, worker)
  settle(book, stack, cells, nowMs)
  local ahead, later = {}, {}
  for _, slot in ipairs(book.slots) do
    local list = makesRoom(slot, order, departAtMs, nowMs, worker) and later or ahead
    list[#list + 1] = slot
  end
  return forecastAmong(book, ahead, stack, cells, nowMs), later
end

-- Moves the later ones behind a departure that has just been found in the forecast.
local function makeRoom(book, forecast, later)
  for _, slot in ipairs(later) do
    notBefore(forecast, slot.departAtMs, slot.layer)
    local departMs, binding = findDeparture(forecast, slot.cost)
    takeDeparture(forecast, departMs, binding, slot.cost)
    slot.departAtMs = departMs
  end
  if #later > 0 then sortBy(book.slots, function(slot) return slot.departAtMs end) end
end

-- Whether there are slots before nowMs that somebody may come for. One call may tell of hundreds of departures, so that
-- all slots are held is found out once.
local function isWaitedFor(book, nowMs)
  if book.areAllHeld then return false end
  book.areAllHeld = true
  for _, slot in ipairs(book.slots) do
    if not slot.held then
      book.areAllHeld = false
      if slot.departAtMs < nowMs then return true end
    end
  end
  return false
end

-- A departure happens. While there are slots before it that somebody may come for, it waits its turn here.
local function departNow(book, stack, cells, nowMs, cost)
  if not isWaitedFor(book, nowMs) then return chargeBook(book, stack, cells, nowMs, cost) end
  addSlot(book, {
    name = false, departAtMs = nowMs, order = -huge, layer = 'none', cost = cost, held = false, worker = false,
  })
end
`
