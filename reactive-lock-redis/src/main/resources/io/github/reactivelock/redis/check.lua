-- Which commands that locks cannot do without a script may not run here: the name of each and what the server says to
-- it. The channel is one that the user may write to and that has no listeners; the mark of a cluster's shards is that
-- of lock.lua. A node that does not have its slot says so behind what it says to a command that may not run.
local refused = {}
local publish = string.find(ARGV[1], '^[^!{]*:!shard:') and 'SPUBLISH' or 'PUBLISH'
for _, command in ipairs({ { 'TIME' }, { publish, ARGV[1], '' } }) do
  local reply = redis.pcall(unpack(command))
  local said = type(reply) == 'table' and reply.err
  if said then
    local words = string.lower(said)
    local denied = string.find(words, 'run this command') or string.find(words, 'no permissions to run') -- since 7.2
    if denied or string.find(words, 'unknown') or string.find(words, 'not allowed from') then
      refused[#refused + 1] = command[1]
      refused[#refused + 1] = said
    end
  end
end
return refused
