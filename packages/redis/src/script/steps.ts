/** The steps of a call. Each gives its answer as JSON, most of them none. */
export const steps = `
-- How many slots are promised at once at the most.
local mostSpares = 1000

-- How long a departure counts as one that a worker which comes back may not know of.
local recentMs = 10000

-- Strikes a slot out. Gives its order and its time, or those of one who comes last if it does not stand here.
local function strike(state, name)
  local place = placeOf(state.book, name)
  if place == nil then return huge, huge end
  local slot = table.remove(state.book.slots, place)
  return slot.order, slot.departAtMs
end

local function remember(state, cost)
  if state.latestMs - state.spentSinceMs > recentMs then
    state.spent, state.spentSinceMs = 0, state.latestMs
  end
  state.spent = state.spent + cost
end

-- Charges a departure, in the order in which the server hears of them.
local function depart(state, cost, atMs)
  departNow(state.book, state.stack, state.cells, max(atMs, state.book.chargedMs), cost)
  remember(state, cost)
end

-- Charges a departure that the server could not be asked for: other workers have spent, too, and at the same time.
local function spend(state, cost, atMs)
  local departMs = max(atMs, state.book.chargedMs)
  stackSpend(state.stack, state.cells, departMs, cost)
  chargedUntil(state.book, departMs)
  remember(state, cost)
end

-- Promises slots to those who wait behind the one that asks.
local function promiseSpares(state, call, step, order, nowMs)
  if step.more == 0 or call.concurrency then return '[]' end
  local untilMs = stackIsStrict(state.stack, state.cells, call.horizonMs) and nowMs or nowMs + call.horizonMs
  local forecast = bookForecast(state.book, state.stack, state.cells, nowMs)
  local slots, spares = {}, {}
  while #slots < min(step.more, mostSpares) do
    local departAtMs, layer = findDeparture(forecast, step.cost)
    if departAtMs > untilMs then break end
    takeDeparture(forecast, departAtMs, layer, step.cost)
    slots[#slots + 1] = {
      name = step.slot .. ':' .. (#slots + 1), departAtMs = departAtMs, order = order, layer = layer, cost = step.cost,
      held = true, worker = call.worker,
    }
    spares[#spares + 1] = '{"waitMs":' .. numberJson(departAtMs - nowMs) .. ',"layer":"' .. layer .. '"}'
  end
  for _, slot in ipairs(slots) do addSlot(state.book, slot) end
  return '[' .. table.concat(spares, ',') .. ']'
end

local play = {}

function play.leave(state, call, step, nowMs)
  local order, formerMs = step.order, huge
  if step.kind == 'retry' then order, formerMs = strike(state, step.slot) elseif order == cjson.null then order = huge end
  local book, stack, cells, cost = state.book, state.stack, state.cells, step.cost
  local forecast, later = forecastAhead(book, stack, cells, nowMs, order, formerMs, call.worker)
  local departMs, layer = findDeparture(forecast, cost)
  local isNow = departMs <= nowMs + nanosecondMs
  if isNow and call.concurrency and inFlightOf(state) >= call.concurrency then return '{"kind":"full"}' end
  takeDeparture(forecast, departMs, layer, cost)
  makeRoom(book, forecast, later)
  local slot = { name = step.slot, cost = cost, held = true, worker = call.worker }
  if isNow then
    slot.departAtMs, slot.order, slot.layer = nowMs, -huge, 'none'
    local own = workerOf(state, call.worker)
    if call.concurrency then own.inFlight = own.inFlight + 1 end
  else
    slot.departAtMs, slot.order, slot.layer = departMs, order, layer
  end
  addSlot(book, slot)
  local spares = promiseSpares(state, call, step, order, nowMs)
  if isNow then return '{"kind":"gone","spares":' .. spares .. '}' end
  return '{"kind":"promised","waitMs":' .. numberJson(departMs - nowMs) .. ',"layer":"' .. layer .. '","spares":' .. spares .. '}'
end

play.retry = play.leave

function play.reserve(state, call, step, nowMs)
  local order = step.order
  if order == cjson.null then order = huge end
  local forecast = bookForecast(state.book, state.stack, state.cells, nowMs)
  notBefore(forecast, nowMs + step.notBeforeMs, 'none')
  local departMs, layer = findDeparture(forecast, step.cost)
  addSlot(state.book, {
    name = step.slot, departAtMs = departMs, order = order, layer = layer, cost = step.cost, held = false,
    worker = call.worker,
  })
  return '{"kind":"reserved","waitMs":' .. numberJson(departMs - nowMs) .. ',"layer":"' .. layer .. '"}'
end

-- What is over stays used.
function play.giveBack(state, call, step, nowMs)
  local place = placeOf(state.book, step.slot)
  if place == nil then return end
  local slot = state.book.slots[place]
  if slot.held or slot.departAtMs >= nowMs then table.remove(state.book.slots, place) end
end

function play.sent(state, call, step, nowMs)
  local atMs = nowMs - step.agoMs
  local place = placeOf(state.book, step.slot)
  if place == nil then
    measureIntervalFrom(state.stack, state.cells, max(atMs, state.book.chargedMs), step.cost)
  else
    table.remove(state.book.slots, place)
    depart(state, step.cost, atMs)
  end
end

function play.spent(state, call, step, nowMs)
  for _, departure in ipairs(step.departures) do spend(state, departure.cost, nowMs - departure.agoMs) end
end

function play.pause(state, call, step, nowMs, notice)
  notice.pausedUntilMs = max(notice.pausedUntilMs, nowMs + step.forMs)
  notice.pauseVersion, notice.isChanged = nextVersion(notice.pauseVersion, nowMs), true
  takeNotice(state, notice, nowMs)
end

function play.resume(state, call, step, nowMs, notice)
  if notice.pausedUntilMs <= nowMs then return end
  notice.pausedUntilMs = nowMs
  notice.pauseVersion, notice.isChanged = nextVersion(notice.pauseVersion, nowMs), true
  takeNotice(state, notice, nowMs)
end

function play.learn(state, call, step, nowMs, notice)
  notice.learned = shiftLearned(step.learned, nowMs)
  notice.learnedVersion, notice.isChanged = nextVersion(notice.learnedVersion, nowMs), true
  takeNotice(state, notice, nowMs)
end

-- Takes over what was used under a former policy, and the slots of this worker.
function play.adopt(state, call, step, nowMs)
  local stateKey, stack = nextStack(step.from)
  local former = call.formerStates[stateKey] or readState(stateKey, stack)
  if stateKey == state.key or former == nil then return end
  call.formerStates[stateKey] = former
  if state.seq == 0 then
    settle(former.book, former.stack, former.cells, nowMs)
    stackAdopt(state.stack, state.cells, former.stack, former.cells, nowMs)
  end
  local kept = {}
  for _, slot in ipairs(former.book.slots) do
    if slot.worker == call.worker then addSlot(state.book, slot) else kept[#kept + 1] = slot end
  end
  former.book.slots = kept
  local own = workerOf(former, call.worker)
  if own then own.inFlight = 0 end
end

function play.view(state)
  return '{"kind":"viewed","saved":' .. stateJson(state) .. '}'
end
`
