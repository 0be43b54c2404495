/** The keys of a call: that of the host, then for each stack that of its state and one per exact quota. */
export const keys = `
local keysRead = 1

local function nextKey()
  keysRead = keysRead + 1
  return KEYS[keysRead]
end

-- Gives the key of the state and the layers, each exact quota with the key of its list.
local function nextStack(layers)
  local stateKey = nextKey()
  for _, layer in ipairs(layers) do
    if layer.rule == 'log' then layer.key, layer.times, layer.costs = nextKey(), {}, {} end
  end
  return stateKey, layers
end

-- The server takes whole milliseconds, and not beyond its own range.
local function toTtl(ttlMs)
  return string.format('%d', min(ttlMs, 9007199254740991 / 1000))
end
`
