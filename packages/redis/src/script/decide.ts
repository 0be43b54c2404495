/** One call from what it gives to its reply, and all calls of a run. */
export const decide = `
-- The time of this server; that of a test if it gives one.
local function serverMs(testMs)
  if testMs ~= '' then return tonumber(testMs) end
  local time = redis.call('TIME')
  return time[1] * 1000 + time[2] / 1000
end

local function decide(call, limits, clockMs)
  call.concurrency, call.formerStates = limits.concurrency, {}
  local notice = readNotice(nextKey())
  local stateKey, stack = nextStack(limits.layers)
  local state = readState(stateKey, stack) or freshState(stateKey, stack)
  if isRepeated(state, call) then error('REPEATED this call has been carried out before', 0) end
  local isBehind = isBehindOf(state, call)
  if isBehind and not call.credits then return '{"lost":true}' end

  local nowMs = timeOfHost(notice, state.latestMs, clockMs)
  state.latestMs = nowMs
  mendNotice(notice, state)
  local own = renew(state, call, nowMs)
  takeNotice(state, notice, nowMs)
  if isBehind then heal(state, call.credits, nowMs) end
  if call.keep then keepOnly(state, call.keep, call.worker) end

  local answers = {}
  for index, step in ipairs(call.steps) do
    answers[index] = play[step.kind](state, call, step, nowMs, notice) or 'null'
  end
  state.seq = max(state.seq, call.seq) + 1
  own.seq = state.seq

  local expiryMs = expiresInMs(state, nowMs)
  local ttlMs = ttlOf(state, nowMs, expiryMs)
  local credits = listJson(creditsLeft(state, nowMs), numberJson)
  writeState(state, ttlMs)
  for _, former in pairs(call.formerStates) do writeState(former, ttlOf(former, nowMs, expiresInMs(former, nowMs))) end
  writeNotice(notice, nowMs, ttlMs)

  local learned = ''
  if notice.learnedVersion ~= call.learnedVersion then
    learned = ',"learned":' .. learnedJson(shiftLearned(notice.learned, -nowMs))
  end
  return format(
    '{"seq":%d,"nowMs":%.17g,"expiresInMs":%s,"workers":%d,"pauseVersion":%d,"learnedVersion":%d,"credits":%s,"answers":[%s]%s}',
    state.seq, nowMs, numberJson(expiryMs), #state.workers, notice.pauseVersion, notice.learnedVersion, credits,
    concat(answers, ','), learned
  )
end

-- A host whose call fails, because something else stands at one of its keys for example, fails alone.
local function replyTo(callJson, limitsList, clockMs)
  local call = cjson.decode(callJson)
  local lastKey = keysRead + call.keys
  local isDone, reply = pcall(decide, call, limitsList[call.limits], clockMs)
  keysRead = lastKey
  if isDone then return reply end
  return cjson.encode({ error = type(reply) == 'table' and reply.err or reply })
end

local clockMs, limitsList = serverMs(ARGV[1]), cjson.decode(ARGV[2])
local replies = {}
for index = 3, #ARGV do replies[index - 2] = replyTo(ARGV[index], limitsList, clockMs) end
return replies
`
