-- Runs one command on a key unless a newer fencing token was seen there. KEYS: the key, the key of the token.
-- ARGV: the token, after a "=" if it is that of a share, which is not remembered; the command, its further arguments.
-- Answers {1, answer}, or {0, newest token}. Tokens are compared as text, because a number of Lua cannot hold 64 bits.
local shared, token = string.match(ARGV[1], '^(=?)(.*)$')
local seen = redis.call('GET', KEYS[2])
if seen and (#seen > #token or (#seen == #token and seen > token)) then
  return { 0, seen }
end
local command = { ARGV[2], KEYS[1] }
for i = 3, #ARGV do
  command[#command + 1] = ARGV[i]
end
-- The command first: if it is refused, nothing has changed.
local answer = redis.call(unpack(command))
if shared == '' then
  redis.call('SET', KEYS[2], token)
end
if type(answer) == 'table' and answer.ok then
  answer = answer.ok
end
return { 1, answer }
