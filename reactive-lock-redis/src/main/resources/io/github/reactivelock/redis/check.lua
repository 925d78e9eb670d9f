-- Which commands that locks cannot do without a script may not run here: the name of each and what the server says to
-- it. The channel is one that the user may write to and that has no listeners.
local refused = {}
for _, command in ipairs({ { 'TIME' }, { 'PUBLISH', ARGV[1], '' } }) do
  local reply = redis.pcall(unpack(command))
  local said = type(reply) == 'table' and reply.err
  if said then
    local words = string.lower(said)
    if string.find(words, 'unknown') or string.find(words, 'run this command') or string.find(words, 'not allowed from') then
      refused[#refused + 1] = command[1]
      refused[#refused + 1] = said
    end
  end
end
return refused
