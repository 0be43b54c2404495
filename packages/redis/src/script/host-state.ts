/** The state of one host under one policy, and how it is kept: one packed string, and a list per exact quota. */
export const hostState = `
-- States that another version of this script has written count as lost.
local stateFormat = 2

local function freshState(key, stack)
  local cells = {}
  for index = 1, #stack do cells[index] = freshCells(stack[index]) end
  return {
    key = key, stack = stack, cells = cells, workers = {},
    book = { slots = {}, pausedUntilMs = -huge, chargedMs = -huge },
    latestMs = -huge, pauseVersion = 0, learnedVersion = 0, seq = 0, spent = 0, spentSinceMs = -huge,
  }
end

local function unpackSlot(packed)
  return {
    name = packed[1], departAtMs = packed[2], order = packed[3], layer = packed[4], cost = packed[5], held = packed[6],
    worker = packed[7],
  }
end

local function packSlot(slot)
  return { slot.name, slot.departAtMs, slot.order, slot.layer, slot.cost, slot.held, slot.worker }
end

-- nil if there is none.
local function readState(key, stack)
  local packed = redis.call('GET', key)
  if not packed then return nil end
  local saved = cmsgpack.unpack(packed)
  if saved[1] ~= stateFormat then return nil end
  local cells, slots, workers = saved[2], {}, {}
  for index = 1, #stack do
    if stack[index].rule == 'log' then cells[index] = unpackLog(cells[index]) end
  end
  for index, slot in ipairs(saved[3]) do slots[index] = unpackSlot(slot) end
  for index, worker in ipairs(saved[4]) do
    workers[index] = { name = worker[1], aliveUntilMs = worker[2], inFlight = worker[3], call = worker[4], seq = worker[5] }
  end
  return {
    key = key, stack = stack, cells = cells, workers = workers,
    book = { slots = slots, pausedUntilMs = saved[5], chargedMs = saved[6] },
    latestMs = saved[7], pauseVersion = saved[8], learnedVersion = saved[9], seq = saved[10], spent = saved[11],
    spentSinceMs = saved[12],
  }
end

-- How long until the state says no more than that of a host never asked: no shorter than until what is promised has
-- left and been forgotten.
local function expiresInMs(state, nowMs)
  local stack, cells, slots, pausedMs = state.stack, state.cells, state.book.slots, state.book.pausedUntilMs
  if #slots == 0 then return max(0, stackRecoveredAt(stack, cells) - nowMs, pausedMs - nowMs) end
  local lastMs, cost, promised = max(slots[#slots].departAtMs, state.latestMs), 0, stackFork(stack, cells)
  for index = 1, #slots do cost = cost + slots[index].cost end
  stackCharge(stack, promised, lastMs, cost)
  return max(0, stackRecoveredAt(stack, promised) - nowMs, pausedMs - nowMs, lastMs - nowMs)
end

-- A state is kept as long as it says anything, and as long as a worker is alive.
local function ttlOf(state, nowMs, expiryMs)
  local ttlMs = expiryMs
  for _, worker in ipairs(state.workers) do ttlMs = max(ttlMs, worker.aliveUntilMs - nowMs) end
  return max(1, ceil(ttlMs))
end

local function packState(state)
  local cells, slots, workers = {}, {}, {}
  for index, layer in ipairs(state.stack) do
    cells[index] = layer.rule == 'log' and packLog(state.cells[index]) or state.cells[index]
  end
  for index, slot in ipairs(state.book.slots) do slots[index] = packSlot(slot) end
  for index, worker in ipairs(state.workers) do
    workers[index] = { worker.name, worker.aliveUntilMs, worker.inFlight, worker.call, worker.seq }
  end
  return cmsgpack.pack({
    stateFormat, cells, slots, workers, state.book.pausedUntilMs, state.book.chargedMs, state.latestMs, state.pauseVersion,
    state.learnedVersion, state.seq, state.spent, state.spentSinceMs,
  })
end

-- The string comes first: it is what a server refuses that is out of memory, and then nothing has been written.
local function writeState(state, ttlMs)
  redis.call('SET', state.key, packState(state), 'PX', toTtl(ttlMs))
  for index, layer in ipairs(state.stack) do
    if layer.rule == 'log' then writeLog(layer, state.cells[index]) end
  end
end

-- A departure that waits its turn in the book has no name and is nobody's.
local function slotJson(slot)
  local fields = {}
  for name, value in pairs(slot) do fields[name] = value end
  fields.name, fields.worker = slot.name or nil, slot.worker or nil
  return objectJson(fields)
end

local function workerJson(worker)
  return objectJson({
    name = worker.name, aliveUntilMs = worker.aliveUntilMs, inFlight = worker.inFlight, seq = worker.seq,
  })
end

-- The state as core writes it down: SavedHost.
local function stateJson(state)
  local layerIndex = 0
  local function cellsJson(cells)
    layerIndex = layerIndex + 1
    local layer = state.stack[layerIndex]
    if layer.rule == 'log' then return listJson(logEntries(layer, cells), numberJson) end
    if layer.rule ~= 'published' then return listJson(cells, numberJson) end
    local numbers = {}
    for place = 2, mostPublished + 1 do
      for _, value in ipairs(cells[place] or { huge, -huge, 0, 0, -huge }) do numbers[#numbers + 1] = value end
    end
    numbers[#numbers + 1] = cells[1]
    return listJson(numbers, numberJson)
  end
  local book = state.book
  return '{"cells":' .. listJson(state.cells, cellsJson)
    .. ',"slots":' .. listJson(book.slots, slotJson)
    .. ',"workers":' .. listJson(state.workers, workerJson)
    .. ',"pausedUntilMs":' .. numberJson(book.pausedUntilMs)
    .. ',"chargedMs":' .. numberJson(book.chargedMs)
    .. ',"latestMs":' .. numberJson(state.latestMs)
    .. ',"pauseVersion":' .. numberJson(state.pauseVersion)
    .. ',"learnedVersion":' .. numberJson(state.learnedVersion)
    .. ',"seq":' .. numberJson(state.seq)
    .. ',"spent":' .. numberJson(state.spent)
    .. ',"spentSinceMs":' .. numberJson(state.spentSinceMs) .. '}'
end

local function workerOf(state, name)
  for index, worker in ipairs(state.workers) do
    if worker.name == name then return worker, index end
  end
  return nil
end

local function inFlightOf(state)
  local sum = 0
  for _, worker in ipairs(state.workers) do sum = sum + worker.inFlight end
  return sum
end

-- What each layer has left once those have been charged that are on their way to the wire.
local function creditsLeft(state, nowMs)
  local leaving = 0
  for _, slot in ipairs(state.book.slots) do
    if slot.departAtMs <= nowMs then leaving = leaving + slot.cost end
  end
  local credits = {}
  for index, layer in ipairs(state.stack) do
    credits[index] = max(0, layerCredit(layer, state.cells[index], nowMs) - leaving)
  end
  return credits
end

-- What a dead worker was promised for later is struck out; what it was about to send counts as sent.
local function bury(state, name, nowMs)
  local kept = {}
  for _, slot in ipairs(state.book.slots) do
    if slot.worker ~= name or slot.departAtMs <= nowMs then kept[#kept + 1] = slot end
    if slot.worker == name then slot.held = false end
  end
  state.book.slots = kept
end

-- Whether this call, or a later one of the same worker, has been carried out before: clients may send one again whose
-- answer they have lost.
local function isRepeated(state, call)
  local own = workerOf(state, call.worker)
  return own ~= nil and call.number <= own.call
end

-- Whether the worker has seen a later state than what this one told it last, or, if it told it nothing, than this one.
local function isBehindOf(state, call)
  local own = workerOf(state, call.worker)
  return call.seq > (own and own.seq or state.seq)
end

-- Notes who calls, and buries the dead. Gives what is noted.
local function renew(state, call, nowMs)
  local own = workerOf(state, call.worker)
  if own == nil then
    own = { name = call.worker, seq = 0 }
    state.workers[#state.workers + 1] = own
  end
  own.aliveUntilMs, own.inFlight, own.call = nowMs + call.leaseMs, call.inFlight, call.number
  local alive = {}
  for _, worker in ipairs(state.workers) do
    if worker.aliveUntilMs >= nowMs then
      alive[#alive + 1] = worker
    else
      bury(state, worker.name, nowMs)
    end
  end
  state.workers = alive
  return own
end

-- Takes in pauses and lessons that came to the host under another policy.
local function takeNotice(state, notice, nowMs)
  if state.pauseVersion ~= notice.pauseVersion then
    state.pauseVersion = notice.pauseVersion
    state.book.pausedUntilMs = notice.pausedUntilMs
  end
  settle(state.book, state.stack, state.cells, nowMs)
  if state.learnedVersion ~= notice.learnedVersion then
    state.learnedVersion = notice.learnedVersion
    stackLearn(state.stack, state.cells, notice.learned, nowMs)
  end
end

-- A notice that was lost comes back from a state that has taken it in, as far as it has.
local function mendNotice(notice, state)
  if notice.isKnown or (state.pauseVersion == 0 and state.learnedVersion == 0) then return end
  notice.pausedUntilMs, notice.pauseVersion = state.book.pausedUntilMs, state.pauseVersion
  notice.learnedVersion = state.learnedVersion
  notice.isChanged = true
end

-- The worker remembers a state in which more was used than in this one.
local function heal(state, credits, nowMs)
  local left = {}
  for index, credit in ipairs(credits) do left[index] = credit - state.spent end
  stackLower(state.stack, state.cells, left, nowMs)
  chargedUntil(state.book, nowMs)
end

local function keepOnly(state, names, worker)
  local isKept = {}
  for _, name in ipairs(names) do isKept[name] = true end
  local kept = {}
  for _, slot in ipairs(state.book.slots) do
    if slot.worker ~= worker or isKept[slot.name] then kept[#kept + 1] = slot end
  end
  state.book.slots = kept
end
`
