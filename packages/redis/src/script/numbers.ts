/** What all parts of the script use. */
export const numbers = `
local huge, max, min, floor, ceil = math.huge, math.max, math.min, math.floor, math.ceil
local format, concat = string.format, table.concat

-- Sorts in place; those of equal value stay in their order.
local function sortBy(list, valueOf)
  local values = {}
  for index = 1, #list do
    local item, value = list[index], valueOf(list[index])
    local place = index
    while place > 1 and values[place - 1] > value do
      list[place], values[place] = list[place - 1], values[place - 1]
      place = place - 1
    end
    list[place], values[place] = item, value
  end
end

-- JSON with all digits of a number. Infinity is written as a number that is too large for a double, and read as such.
local function numberJson(value)
  if value == huge then return '1e999' end
  if value == -huge then return '-1e999' end
  if value == floor(value) and value < 1e15 and value > -1e15 then return format('%d', value) end
  return format('%.17g', value)
end

local function listJson(list, toJson)
  local items = {}
  for index = 1, #list do items[index] = toJson(list[index]) end
  return '[' .. concat(items, ',') .. ']'
end

local function objectJson(fields)
  local items = {}
  for name, value in pairs(fields) do
    local json
    if type(value) == 'number' then json = numberJson(value) else json = cjson.encode(value) end
    items[#items + 1] = cjson.encode(name) .. ':' .. json
  end
  return '{' .. concat(items, ',') .. '}'
end
`
