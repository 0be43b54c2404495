/** What a host itself has said, whatever the policy: pauses, and what was learned from its answers. */
export const notice = `
-- How long a complaint is remembered.
local forgivenAfterMs = 1800000

-- A clock that was set back by less just stands still until it has caught up.
local slackMs = 1000

local function readNotice(key)
  local packed = redis.call('GET', key)
  if not packed then
    return { key = key, pausedUntilMs = -huge, pauseVersion = 0, learned = {}, learnedVersion = 0, shiftMs = 0 }
  end
  local pausedUntilMs, pauseVersion, learned, learnedVersion, shiftMs = unpack(cmsgpack.unpack(packed))
  return {
    key = key, isKnown = true, pausedUntilMs = pausedUntilMs, pauseVersion = pauseVersion, learned = learned,
    learnedVersion = learnedVersion, shiftMs = shiftMs,
  }
end

-- Time never goes back. After a failover to a server whose clock is behind, it runs on from the latest that was seen.
local function timeOfHost(notice, latestMs, clockMs)
  if latestMs - (clockMs + notice.shiftMs) > slackMs then
    notice.shiftMs = latestMs - clockMs
    notice.isChanged = true
  end
  return max(clockMs + notice.shiftMs, latestMs)
end

-- A version that no notice had before this one, should that have got lost.
local function nextVersion(version, nowMs)
  return max(version + 1, floor(nowMs))
end

local function shiftLearned(learned, byMs)
  local shifted = {}
  if learned.gap then
    local gap = {}
    for name, value in pairs(learned.gap) do gap[name] = value end
    gap.learnedAtMs = gap.learnedAtMs + byMs
    if gap.refusedAtMs then gap.refusedAtMs = gap.refusedAtMs + byMs end
    shifted.gap = gap
  end
  if learned.published then
    shifted.published = {}
    for index, limit in ipairs(learned.published) do
      local copy = {}
      for name, value in pairs(limit) do copy[name] = value end
      copy.departedAtMs = copy.departedAtMs + byMs
      if copy.resetAtMs then copy.resetAtMs = copy.resetAtMs + byMs end
      shifted.published[index] = copy
    end
  end
  return shifted
end

local function learnedJson(learned)
  local items = {}
  if learned.gap then items[#items + 1] = '"gap":' .. objectJson(learned.gap) end
  if learned.published then items[#items + 1] = '"published":' .. listJson(learned.published, objectJson) end
  return '{' .. table.concat(items, ',') .. '}'
end

local function forgottenAtMs(learned)
  local atMs = -huge
  if learned.gap then atMs = (learned.gap.refusedAtMs or learned.gap.learnedAtMs) + forgivenAfterMs end
  for _, limit in ipairs(learned.published or {}) do atMs = max(atMs, limit.resetAtMs or -huge) end
  return atMs
end

-- A notice outlives the states that have taken it in.
local function writeNotice(notice, nowMs, stateTtlMs)
  if notice.isChanged then
    local untilMs = max(notice.pausedUntilMs, forgottenAtMs(notice.learned))
    local ttlMs = ceil(max(untilMs - nowMs, 2 * stateTtlMs))
    local packed = cmsgpack.pack({
      notice.pausedUntilMs, notice.pauseVersion, notice.learned, notice.learnedVersion, notice.shiftMs,
    })
    redis.call('SET', notice.key, packed, 'PX', toTtl(ttlMs))
  elseif notice.isKnown and redis.call('PTTL', notice.key) < stateTtlMs then
    redis.call('PEXPIRE', notice.key, toTtl(2 * stateTtlMs))
  end
end
`
