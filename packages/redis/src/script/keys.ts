/** The keys of each call, one call after the other: that of the host, then for each stack that of its state and one per exact quota. */
export const keys = `
local keysRead = 0

local function nextKey()
  keysRead = keysRead + 1
  return KEYS[keysRead]
end

-- The layer of an exact quota, with the key of its list and as much of that as has been read.
local function logOf(layer, key)
  return { rule = 'log', name = layer.name, limit = layer.limit, windowMs = layer.windowMs, key = key, times = {}, costs = {} }
end

-- Gives the key of the state and the layers. Hosts share the layers of a policy, but each exact quota has a list of its own.
local function nextStack(layers)
  local stateKey, stack = nextKey(), {}
  for index = 1, #layers do
    local layer = layers[index]
    stack[index] = layer.rule == 'log' and logOf(layer, nextKey()) or layer
  end
  return stateKey, stack
end

-- The server takes whole milliseconds, and not beyond its own range.
local function toTtl(ttlMs)
  return string.format('%d', min(ttlMs, 9007199254740991 / 1000))
end
`
