/** One call from its arguments to its reply. */
export const decide = `
local limits, call, testMs = cjson.decode(ARGV[1]), cjson.decode(ARGV[2]), ARGV[3]
call.concurrency, call.formerStates = limits.concurrency, {}

local notice = readNotice(KEYS[1])
local stateKey, stack = nextStack(limits.layers)
local state = readState(stateKey, stack) or freshState(stateKey, stack)
if isRepeated(state, call) then return redis.error_reply('REPEATED this call has been carried out before') end
local isBehind = call.seq > state.seq
if isBehind and not call.credits then return '{"lost":true}' end

local nowMs = timeOfHost(notice, state.latestMs, serverMs(testMs))
state.latestMs = nowMs
mendNotice(notice, state)
renew(state, call, nowMs)
takeNotice(state, notice, nowMs)
if isBehind then heal(state, call.credits, nowMs) end
if call.keep then keepOnly(state, call.keep, call.worker) end

local answers = {}
for index, step in ipairs(call.steps) do
  answers[index] = play[step.kind](state, call, step, nowMs, notice) or 'null'
end
state.seq = max(state.seq, call.seq) + 1

local expiryMs, ttlMs = expiresInMs(state, nowMs), ttlOf(state, nowMs)
local credits = listJson(creditsLeft(state, nowMs), numberJson)
writeState(state, ttlMs)
for _, former in pairs(call.formerStates) do writeState(former, ttlOf(former, nowMs)) end
writeNotice(notice, nowMs, ttlMs)

local learned = ''
if notice.learnedVersion ~= call.learnedVersion then
  learned = ',"learned":' .. learnedJson(shiftLearned(notice.learned, -nowMs))
end
return '{"seq":' .. numberJson(state.seq)
  .. ',"nowMs":' .. numberJson(nowMs)
  .. ',"expiresInMs":' .. numberJson(expiryMs)
  .. ',"workers":' .. #state.workers
  .. ',"pauseVersion":' .. numberJson(notice.pauseVersion)
  .. ',"learnedVersion":' .. numberJson(notice.learnedVersion)
  .. ',"credits":' .. credits
  .. ',"answers":[' .. table.concat(answers, ',') .. ']' .. learned .. '}'
`
