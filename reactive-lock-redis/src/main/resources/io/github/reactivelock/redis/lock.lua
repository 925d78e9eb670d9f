-- One lock. The first argument says what is wanted; one script for all, so that either every verb is known to the
-- server or none. The class Javadoc of RedisLockBackend is the specification.
--
-- ARGV: verb, and what the verb needs
--
-- owner    "id channel label token" of the claim that has the lock; expires with its lease. The label of a share that
--          is alone is followed by "\31units capacity", that of a claim which can be called back by "\30". As soon as
--          another call has to do with a lone share, and while claims share the lock, "= units token", the units in use
--          and the newest of their tokens; expires with the last of their leases
-- token    the last fencing token, without the engine's low bits, a time in microseconds; expires ten minutes after
--          that time or after its last use. While a client watches for changes it is "+token deadline channel"
-- queue    the waiting claims' ids in order of arrival, and with a negative score, those that share the lock: the
--          millisecond at which the lease is over, below zero
-- waiters  "lease deadline channel label" of each that waits; the deadline begins with a zero if this server had
--          confirmed the channel, so that it knows whether the client is there. The label is followed as the owner's.
--          Of each that shares the lock, "=units token channel label"
--
-- A plus sign, at the end of the owner and at the beginning of the token, says: look whether there is a queue, a
-- watcher or a share. While there is one, both have the sign, if they exist.
--
-- The first in the queue is granted as soon as the units in use and its own fit its capacity; nobody overtakes it, but
-- for those that cannot be told. A whole lock is all units of all.
local call = redis.call
local KEPT_MS = '600000'
local WHOLE = 2147483647

-- For how long a counter is kept: longer where the clock has yet to come to its token.
local function kept(token, now)
  return string.format('%.0f', math.min(math.max(token - now, 0) / 1000, 3e12) + KEPT_MS) -- a century at most
end

-- This life of the server, and for how many seconds it has had its memory. Uptime is a difference of whole seconds of
-- the wall clock, so it may be one too many.
local function life()
  local server = call('INFO', 'server')
  local up = tonumber(string.match(server, 'uptime_in_seconds:(%d+)'))
  return string.match(server, 'run_id:(%x+)'), math.max(up - 1, 0)
end

-- Renews several locks, each answered for itself. What is refused about one is answered with the error's text and
-- leaves the others alone; that the server is a replica is said of all.
local function renew_each(count, renew)
  local answers = {}
  for i = 1, count do
    local _, reply = pcall(renew, i)
    if type(reply) == 'table' then
      reply = reply.err
    end
    if type(reply) == 'string' and string.find(reply, 'READONLY', 1, true) then
      return redis.error_reply(reply)
    end
    answers[i] = reply
  end
  return answers
end

local RENEWED, MISSING, OTHER = 1, 2, 3

if ARGV[1] == 'renew' then
  return renew_each(#KEYS, function(i)
    local key, id = KEYS[i], ARGV[2 * i]
    local value = redis.pcall('GET', key)
    if not value then
      return MISSING
    elseif type(value) == 'table' then
      return string.find(value.err, 'WRONGTYPE', 1, true) and OTHER or value
    elseif string.sub(value, 1, #id + 1) ~= id .. ' ' then
      return OTHER
    end
    call('PEXPIRE', key, ARGV[2 * i + 1])
    return RENEWED
  end)
end

-- The owner's key of shares lasts for as long as any of them. A server refuses no write of it, nor any behind it for
-- want of memory; so this goes before all that a hold needs.
local function outlive(owner, lease)
  call('PEXPIRE', owner, string.format('%.0f', math.max(call('PTTL', owner), lease)))
end

-- Of claims that share locks: the keys of owner, queue and waiters of each.
if ARGV[1] == 'renew-shares' then
  local time = call('TIME')
  local now_ms = math.floor(((time[1] - 1577836800) * 1000000 + time[2]) / 1000)
  return renew_each(#KEYS / 3, function(i)
    local owner, queue, waiters = KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i]
    local id, lease = ARGV[2 * i], tonumber(ARGV[2 * i + 1])
    local value = redis.pcall('GET', owner)
    if type(value) == 'table' then
      return string.find(value.err, 'WRONGTYPE', 1, true) and OTHER or value
    end
    local shared = value and string.byte(value) == 61
    local score = shared and call('ZSCORE', queue, id)
    if score and tonumber(score) < -now_ms then
      outlive(owner, lease)
      call('ZADD', queue, string.format('%.0f', -now_ms - lease), id)
      for _, key in ipairs({ queue, waiters }) do
        if call('PTTL', key) < lease then
          call('PEXPIRE', key, lease)
        end
      end
      return RENEWED
    elseif value and string.sub(value, 1, #id + 1) == id .. ' ' then
      call('PEXPIRE', owner, lease)
      return RENEWED
    end
    return (shared or not value) and MISSING or OTHER
  end)
end

if ARGV[1] == 'foreign' then
  for i, key in ipairs(KEYS) do
    local found = call('TYPE', key).ok
    if found ~= 'none' and found ~= ARGV[i + 1] then
      return { key, found }
    end
  end
  return {}
end

if ARGV[1] == 'memory' then -- what becomes of keys when it is full, and how much there may be
  local memory = call('INFO', 'memory')
  return {
    string.match(memory, 'maxmemory_policy:([^\r\n]+)') or '',
    tonumber(string.match(memory, 'maxmemory:(%d+)') or 0),
  }
end

-- A part of the names that fit a pattern, and where the next one begins; the server looks at a thousand keys.
if ARGV[1] == 'scan' then
  local part = call('SCAN', ARGV[2], 'MATCH', ARGV[3], 'COUNT', 1000, 'TYPE', 'string')
  local names = part[2]
  names[#names + 1] = part[1]
  return names
end

-- Which primary of a cluster has which slots: first slot, last slot, a name, for each range.
if ARGV[1] == 'primaries' then
  local found = {}
  for _, range in ipairs(call('CLUSTER', 'SLOTS')) do
    local node = range[3]
    found[#found + 1] = range[1]
    found[#found + 1] = range[2]
    found[#found + 1] = node[1] .. ':' .. node[2]
  end
  return found
end

-- The queue and what it knows of its claims last for as long as any of them; longer, so that not each has to see to it.
local function outlast(queue, waiters, lease)
  if call('PTTL', queue) < tonumber(lease) then
    call('PEXPIRE', queue, 2 * lease)
    call('PEXPIRE', waiters, 2 * lease)
  end
end

-- What the owner's key says of shares: units in use, newest token; until the millisecond at which the last of them is
-- over.
local function mark(owner, used, token, last_end, now_ms)
  if used == 0 then
    call('DEL', owner)
  else
    local text = string.format('= %.0f %s+', used, token)
    call('SET', owner, text, 'PX', string.format('%.0f', math.max(last_end - now_ms, 1)))
  end
end

-- A share stays in use, for a claim that is used for nothing else. The first write is one that no server refuses.
local function keep_share(owner, queue, waiters, held, kept, lease)
  local time = call('TIME')
  local now_ms = math.floor(((time[1] - 1577836800) * 1000000 + time[2]) / 1000)
  for _, from in ipairs({ kept, held }) do
    local share, score = call('HGET', waiters, from), call('ZSCORE', queue, from)
    if share and string.byte(share) == 61 and score and tonumber(score) < -now_ms then
      outlive(owner, lease)
      call('ZREM', queue, from)
      call('HDEL', waiters, from)
      call('ZADD', queue, string.format('%.0f', -now_ms - lease), kept)
      call('HSET', waiters, kept, share)
      outlast(queue, waiters, lease)
      return 1
    end
  end
  return 0
end

-- The channels of a cluster's shards are in the slot of their lock. No prefix has the mark in it, but a key may.
local function is_sharded(channel_name)
  return string.find(channel_name, ':!shard:', 1, true) and string.find(channel_name, '^[^!{]*:!shard:')
end

local function publish(to, message)
  call(is_sharded(to) and 'SPUBLISH' or 'PUBLISH', to, message)
end

local deaf = {} -- of the channels that were looked at: whether no client listens there

-- One call about one lock: its keys are KEYS[k + 1] to KEYS[k + 4], its arguments begin at ARGV[at + 1].
local function answer(verb, k, at)
  local OWNER, TOKEN, QUEUE, WAITERS = KEYS[k + 1], KEYS[k + 2], KEYS[k + 3], KEYS[k + 4]
  local RECALLABLE, PLUS, ZERO, EQUALS, WATCH_MICROS, MOST, AHEAD = 30, 43, 48, 61, 60000000, 100, 100000
  -- A claim's id, with channel and label where it may be granted; or a watcher's channel, a token.
  local me = ARGV[at + 1]
  local now, owner
  local sharing = verb == 'share' and '\31' .. ARGV[at + 4] .. ' ' .. ARGV[at + 5] or ''
  local proposal = verb == 'vote' and tonumber(ARGV[at + 7] or 0) or 0 -- a token that a claim would like to have

  local voted
  if verb == 'vote' then
    local run_id, up = life()
    -- A server that came up less than the longest lease ago is not counted, so it shows no token as if a claim had it.
    if up * 1000 < (tonumber(ARGV[at + 8] or 0) or 0) then
      proposal = 0
    end
    -- What servers of a quorum tell with each vote: the answer, how long this server has had its memory, who waits
    -- longest, and if the lock is another's, its id and its token, or an equals sign for those that share it.
    voted = function(said, value, first, owner_id, its_token)
      return { said, value, run_id, up, first, owner_id, its_token }
    end
  end

  -- Most claims find no other before them and most releases none behind them: they end here.
  local is_vote = verb == 'vote' and tonumber(ARGV[at + 5]) == WHOLE
  if verb == 'await' or verb == 'claim' or verb == 'try' or verb == 'share' or is_vote then
    local time = call('TIME')
    now = (time[1] - 1577836800) * 1000000 + time[2] -- microseconds since 2020
    local own = is_vote and math.floor(now / 8) * 8 + 8 or now
    local number = proposal > now and proposal <= now + AHEAD and proposal or own
    local text = string.format('%d', number) -- Lua's tostring keeps only 14 digits
    local taken = redis.pcall('SET', OWNER, me .. sharing .. ' ' .. text, 'NX', 'PX', ARGV[at + 2])
    if taken and taken.ok then
      local last = redis.pcall('SET', TOKEN, text, 'PX', number > now and kept(number, now) or KEPT_MS, 'GET')
      if last and last.err then
        call('DEL', OWNER)
        return last
      end
      local known = tonumber(last) or 0
      if known > 0 and known < number and string.byte(last) ~= PLUS then
        return verb == 'vote' and voted(1, number, -1) or number
      end
      -- It has to be looked at more closely, as if nothing had been done.
      call('DEL', OWNER)
      if last then
        call('SET', TOKEN, last, 'PX', kept(string.match(last, '%d+') or 0, now))
      else
        call('DEL', TOKEN)
      end
    end
  elseif verb == 'probe' then -- refused as any write; and changes nothing, because no claim has this name
    call('ZADD', QUEUE, 'XX', 0, '')
    return 1
  elseif verb == 'release' then
    owner = call('GET', OWNER)
    if owner and string.find(owner, me .. ' ', 1, true) == 1 then
      -- Given up before anything else is tried: whatever fails after that, no claim is left with it.
      call('DEL', OWNER)
      if string.byte(owner, -1) ~= PLUS then
        return 1
      end
    end
  end

  owner = owner or call('GET', OWNER)
  local id, channel, label, token, sign
  local missed -- a force found another grant than its own, or none
  local used, lone -- units that shares have, or one that is alone; nil if there are none
  if owner then
    id, channel, label, token, sign = string.match(owner, '^(%S+) (%S+) (.*) (%d+)(%+?)$')
    if id then
      lone = tonumber(string.match(label, '\31(%d+) %d+$'))
    else
      used, token, sign = string.match(owner, '^= (%d+) (%d+)(%+)$')
      if not used then
        return redis.error_reply('FOREIGN ' .. OWNER)
      end
      used = tonumber(used)
    end
  end

  -- For one who only waits for the release. It may be lost, as any recall.
  if verb == 'recall' then
    if id and string.byte(label, -1) == RECALLABLE then
      redis.pcall('PUBLISH', channel, 'recall ' .. id)
    end
    return 1
  end

  -- The lock stays taken, by a claim that is used for nothing else. The first write is one that no server refuses.
  if verb == 'keep' then
    local kept = ARGV[at + 2]
    if used then
      return keep_share(OWNER, QUEUE, WAITERS, me, kept, ARGV[at + 3])
    end
    if id ~= me and id ~= kept then
      return 0
    end
    call('PEXPIRE', OWNER, ARGV[at + 3])
    label = string.match(label, '^[^\30]*') -- there is no client to call it back from
    call('SET', OWNER, kept .. ' ' .. channel .. ' ' .. label .. ' ' .. token .. sign, 'KEEPTTL')
    return 1
  end

  if not used then
    if verb == 'release' and id ~= me then
      if call('ZREM', QUEUE, me) == 1 then
        call('HDEL', WAITERS, me)
      end
      return 0
    end
    if verb == 'force' then
      if owner and token == me then
        call('DEL', OWNER)
      else -- another grant than the one to end: its owner is left alone
        missed, proposal = true, tonumber(me)
      end
    end
  end

  if not now then
    local time = call('TIME') -- as above; a function for both would take longer to make than this
    now = (time[1] - 1577836800) * 1000000 + time[2]
  end

  local units, capacity = WHOLE, WHOLE -- of the claim that asks
  if verb == 'share' then
    verb, units, capacity = ARGV[at + 3], tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  elseif verb == 'vote' then
    units, capacity = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6])
  end

  local now_ms = math.floor(now / 1000)
  if lone and verb ~= 'release' and verb ~= 'force' and verb ~= 'inspect' then
    -- From now on it stands where others can stand beside it.
    local left = call('PTTL', OWNER)
    left = left < 0 and KEPT_MS or left
    call('ZADD', QUEUE, string.format('%.0f', -now_ms - left), id)
    call('HSET', WAITERS, id, '=' .. lone .. ' ' .. token .. ' ' .. channel .. ' ' .. string.match(label, '^[^\31]*'))
    outlast(QUEUE, WAITERS, left)
    local last = redis.pcall('GET', TOKEN)
    if type(last) == 'string' and string.byte(last) ~= PLUS then
      call('SET', TOKEN, '+' .. last, 'KEEPTTL')
    end
    mark(OWNER, lone, token, now_ms + left, now_ms)
    used, id, channel, label, sign = lone, nil, nil, nil, '+'
  end
  local marked = used -- as the owner says
  local last_end = 0 -- of the shares' leases
  local undecided = false -- so many were dead that the server would have been kept from others: there may be more
  if used then
    last_end = -(call('ZRANGE', QUEUE, 0, 0, 'WITHSCORES')[2] or 0)
    local most = verb == 'inspect' and -1 or MOST
    for i, dead in ipairs(call('ZRANGEBYSCORE', QUEUE, string.format('%.0f', -now_ms), '(0', 'LIMIT', 0, most)) do
      undecided = i == MOST
      used = used - (string.match(call('HGET', WAITERS, dead) or '', '^=(%d+)') or 0)
      if verb ~= 'inspect' then
        call('ZREM', QUEUE, dead)
        call('HDEL', WAITERS, dead)
      end
    end
  end

  -- What a release or a force ends: the owner, or a share; a claim that waits may have stood before others that fit.
  local gone, gone_channel, gone_token, gone_units = id, channel, token, nil
  if marked and (verb == 'release' or verb == 'force') then
    gone = me
    if verb == 'force' then
      local all = call('HGETALL', WAITERS)
      for i = 2, #all, 2 do
        if string.match(all[i], '^=%d+ (%d+) ') == me then
          gone = all[i - 1]
        end
      end
    end
    local was = call('HGET', WAITERS, gone)
    gone_units, gone_token, gone_channel = string.match(was or '', '^=(%d+) (%d+) (%S+)')
    if was then
      call('ZREM', QUEUE, gone)
      call('HDEL', WAITERS, gone)
    elseif used == marked then
      return 0
    end
    used = used - (gone_units or 0)
  end

  local counter = redis.pcall('GET', TOKEN)
  local foreign = type(counter) == 'table' -- that is an error
  if foreign and verb ~= 'release' and verb ~= 'force' and verb ~= 'inspect' then
    return counter
  end
  local known, mark_of_watcher = string.match(not foreign and counter or '', '^%+?(%d+)(.*)$')
  known, mark_of_watcher = tonumber(known) or 0, mark_of_watcher or ''
  local mark_ends, watched = string.match(mark_of_watcher, '^ (%d+) (.*)$')
  if not mark_ends or tonumber(mark_ends) <= now then
    mark_of_watcher, watched = '', nil
  end
  if token then -- the counter may be gone: it does not outlast a long hold
    known = math.max(known, token)
  end

  local function takes_proposal()
    return proposal > math.max(known, now) and proposal <= now + AHEAD
  end

  -- A vote that comes now must not get the token that has been ended at other servers.
  if missed then
    if not foreign and takes_proposal() then
      redis.pcall('SET', TOKEN, '+' .. me .. mark_of_watcher, 'PX', kept(proposal, now))
    end
    return 0
  end

  -- The token goes first: it is the write that a server without memory refuses, and alone it takes nothing.
  local function grant(to, who, lease, plus, wanted, asked)
    if foreign then
      call('GET', TOKEN) -- fails, where SET would not
    end
    if asked and takes_proposal() then
      known = proposal
    elseif asked and verb ~= 'vote' then
      known = math.max(known + 1, now)
    else -- a server's own number for a vote, and several may give the same: no grant of a quorum is a multiple of eight
      known = math.floor(math.max(known, now) / 8) * 8 + 8
    end
    local text = string.format('%.0f', known)
    call('SET', TOKEN, plus .. text .. mark_of_watcher, 'PX', kept(known, now))
    if not wanted then
      used, marked = nil, nil
      call('SET', OWNER, to .. ' ' .. who .. ' ' .. text .. plus, 'PX', lease)
      return text
    end
    if not used then
      used = 0
      -- of shares whose owner's key was lost
      for _, lost in ipairs(call('ZRANGEBYSCORE', QUEUE, '-inf', '(0')) do
        call('ZREM', QUEUE, lost)
        call('HDEL', WAITERS, lost)
      end
    end
    used, token, sign, last_end = used + wanted, text, '+', math.max(last_end, now_ms + lease)
    marked = used
    call('ZADD', QUEUE, string.format('%.0f', -now_ms - lease), to)
    call('HSET', WAITERS, to, '=' .. wanted .. ' ' .. text .. ' ' .. who)
    outlast(QUEUE, WAITERS, lease)
    mark(OWNER, used, text, last_end, now_ms)
    return text
  end

  local function tell(to, message)
    publish(is_sharded(to) and to .. ':' .. OWNER or to, message)
  end

  -- Whether a client listens there now; not asked where it cannot be known, and once for all calls of a script.
  local function is_deaf(to, deadline)
    if string.byte(deadline) ~= ZERO then
      return false
    end
    local sharded = is_sharded(to)
    local channel_name = sharded and to .. ':' .. OWNER or to
    if deaf[channel_name] == nil then
      local count = redis.pcall('PUBSUB', sharded and 'SHARDNUMSUB' or 'NUMSUB', channel_name)
      deaf[channel_name] = type(count) == 'table' and count[2] == 0 -- an error has no such field
    end
    return deaf[channel_name]
  end

  -- Takes the first waiter out of the queue that is alive and either asks now or hears of it, and the dead ones before
  -- it. Those that are alive and deaf keep their places. Nil if there is none, with the channel of the first deaf one,
  -- and with the channel of the one that is first and does not fit; false if so many are dead that the server would be
  -- kept from others.
  local function next_waiter(asking)
    local passed, dead, first_deaf = 0, 0, nil
    while passed < MOST do
      local head
      if used then
        head = call('ZRANGEBYSCORE', QUEUE, '(0', '+inf', 'LIMIT', passed, 1)[1]
      else
        head = call('ZREVRANGE', QUEUE, -1 - passed, -1 - passed)[1]
      end
      if not head then
        break
      end
      local lease, deadline, who = string.match(call('HGET', WAITERS, head) or '', '^(%d+) (%d+) (%S+ .*)$')
      local alive = lease and tonumber(deadline) * 1000 > now
      local to = alive and string.match(who, '^%S+')
      if alive and head ~= asking and is_deaf(to, deadline) then
        passed, first_deaf = passed + 1, first_deaf or to
      else
        local wanted, most
        if alive and string.find(who, '\31', 1, true) then
          who, wanted, most = string.match(who, '^(.*)\31(%d+) (%d+)$')
        end
        if alive and used and used + (wanted or WHOLE) > (tonumber(most) or WHOLE) then
          return nil, first_deaf, to
        end
        if passed == 0 and not used then
          call('ZPOPMIN', QUEUE)
        else
          call('ZREM', QUEUE, head)
        end
        call('HDEL', WAITERS, head)
        if alive then
          return { id = head, lease = lease, who = who, channel = to, units = wanted }
        end
        dead = dead + 1
        if dead == MOST then
          return false
        end
      end
    end
    return nil, first_deaf
  end

  -- No client was found that hears of it: the first is told anyway, and the newest, which is the likeliest to be there.
  local function rouse(first_deaf)
    if first_deaf then
      tell(first_deaf, 'recheck ' .. OWNER)
    end
    local newest = call('ZREVRANGE', QUEUE, 0, 0)[1]
    local to = newest and string.match(call('HGET', WAITERS, newest) or '', '^%d+ %d+ (%S+)')
    if to and to ~= first_deaf then
      tell(to, 'recheck ' .. OWNER)
    end
  end

  local function serve(waiter)
    local text = grant(waiter.id, waiter.who, waiter.lease, '+', waiter.units)
    if not waiter.units then
      id, token = waiter.id, text
    end
    sign = '+'
    tell(waiter.channel, 'grant ' .. waiter.id .. ' ' .. text)
    if watched then
      local units_of = waiter.units and '/' .. waiter.units or ''
      publish(watched, 'acquired ' .. text .. units_of .. string.sub(waiter.who, #waiter.channel + 1))
    end
  end

  if verb == 'release' or verb == 'force' then
    id = nil
    if watched and gone_token then
      publish(watched, 'released ' .. gone_token .. (gone_units and '/' .. gone_units or ''))
    end
    local first, first_deaf, blocked
    local served = 0
    repeat
      first, first_deaf, blocked = next_waiter()
      if first and not pcall(serve, first) then
        tell(first.channel, 'recheck ' .. OWNER)
        break
      end
      served = served + 1
    until not first or id or served == MOST
    if first == false or first_deaf and not blocked then
      rouse(first_deaf)
    elseif served == MOST and not id then -- others would be kept waiting: the newest asks at once
      rouse()
    end
    if used and used ~= marked then
      mark(OWNER, used, token, last_end, now_ms)
    end
    if verb == 'force' and gone_token then
      tell(gone_channel, 'forced ' .. gone)
    end
    return gone_token and 1 or 0
  end

  -- Has the owner's release and the next claim look for a queue and for watchers.
  local function put_sign()
    if sign ~= '+' then
      if owner then
        call('SET', OWNER, owner .. '+', 'KEEPTTL')
      end
      if counter and string.byte(counter) ~= PLUS then
        call('SET', TOKEN, '+' .. counter, 'KEEPTTL')
      end
    end
  end

  -- Answers the token if it is granted; otherwise how long the owner still has, or the first of those that share the
  -- lock, and if it was queued, the claim before it, and whether its client believes in vain that it is heard.
  local function claim(waits, ticket)
    local lease = ARGV[at + 2]
    local my_id, who = string.match(me, '^(%S+) (.*)$')
    if id == my_id then
      call('PEXPIRE', OWNER, lease)
      if takes_proposal() then
        known, token = proposal, string.format('%.0f', proposal)
        local plus = counter and string.byte(counter) == PLUS and '+' or sign
        call('SET', TOKEN, plus .. token .. mark_of_watcher, 'PX', kept(known, now))
        call('SET', OWNER, id .. ' ' .. channel .. ' ' .. label .. ' ' .. token .. sign, 'KEEPTTL')
        if watched then
          publish(watched, 'acquired ' .. token .. ' ' .. label)
        end
      end
      -- Since it was told of a lower token the owner is shown with that one; what a vote says never falls, or a
      -- majority might name a token that is over.
      return verb == 'vote' and known > tonumber(token) and math.ceil(known / 8) * 8 or tonumber(token)
    end
    local held = used and call('HGET', WAITERS, my_id)
    if held and string.byte(held) == EQUALS then
      outlive(OWNER, tonumber(lease))
      call('ZADD', QUEUE, string.format('%.0f', -now_ms - lease), my_id)
      outlast(QUEUE, WAITERS, lease)
      last_end, marked = math.max(last_end, now_ms + lease), nil
      return tonumber(string.match(held, '^=%d+ (%d+)'))
    end
    local left
    if id then
      left = call('PTTL', OWNER)
      if left < 0 then -- the expiry was taken away: nothing here may stay for ever
        call('PEXPIRE', OWNER, lease)
        left = tonumber(lease)
      end
    else
      local heeded = used or watched or call('EXISTS', QUEUE) == 1
      local granted, first, first_deaf, blocked
      local served = 0
      while heeded and not id and served < MOST do
        first, first_deaf, blocked = next_waiter(my_id)
        if not first or first.id == my_id then
          break
        end
        serve(first)
        left = tonumber(first.lease)
        served = served + 1
      end
      undecided = undecided or first == false
      local mine = first and first.id == my_id
      if first == nil and not blocked then
        -- Its place was behind more deaf ones than were looked at.
        if first_deaf and call('ZREM', QUEUE, my_id) == 1 then
          call('HDEL', WAITERS, my_id)
        end
        mine = (used or 0) + units <= capacity
      end
      if mine then
        local wanted = units < WHOLE and units or nil
        local text = grant(my_id, who, lease, (heeded or wanted) and '+' or '', wanted, true)
        granted = known
        if watched then
          publish(watched, 'acquired ' .. text .. (wanted and '/' .. wanted or '') .. string.match(who, ' .*$'))
        end
        while wanted and heeded and served < MOST do -- those behind it may share the lock too
          first = next_waiter()
          if not first then
            break
          end
          serve(first)
          served = served + 1
        end
      end
      if served == MOST and not id then -- others would be kept waiting: the newest asks at once
        rouse()
      end
      if granted then
        return granted
      end
      if not id then
        local first_end = used and call('ZREVRANGEBYSCORE', QUEUE, '(0', '-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
        left = first and 1 or first_end and math.max(-first_end - now_ms, 1) or 1 -- a waiting claim asks again at once
      end
    end
    -- An owner that may have kept the lock for nothing is called back, by a try only if none waits before it.
    local recalls = label and string.byte(label, -1) == RECALLABLE and verb ~= 'vote'
    if recalls and not waits and sign == '+' then
      for _, other in ipairs(call('ZRANGEBYSCORE', QUEUE, '(0', '+inf', 'LIMIT', 0, MOST)) do
        local deadline = string.match(call('HGET', WAITERS, other) or '', '^%d+ (%d+) ')
        if other == my_id or deadline and tonumber(deadline) * 1000 > now then
          recalls = other == my_id
          break
        end
      end
    end
    if recalls then
      redis.pcall('PUBLISH', channel, 'recall ' .. id)
    end
    if not waits and (not recalls or is_sharded(string.match(who, '^%S+'))) then -- no channel would tell it of a grant
      return nil, left
    end
    put_sign()
    local last
    if not ticket then
      last = call('ZREVRANGE', QUEUE, 0, 0, 'WITHSCORES')
      ticket = string.format('%d', math.max((last[2] or 0) + 1, now)) -- also says since when it waits
    end
    local deadline = string.format(verb == 'await' and '0%d' or '%d', now_ms + lease)
    local added = call('ZADD', QUEUE, 'NX', ticket, my_id)
    local share = units < WHOLE and '\31' .. units .. ' ' .. capacity or ''
    call('HSET', WAITERS, my_id, lease .. ' ' .. deadline .. ' ' .. who .. share)
    outlast(QUEUE, WAITERS, lease)
    local behind = last and (last[2] and tonumber(last[2]) > 0 and last[1] or id)
    local unheard = is_deaf(string.match(who, '^%S+'), deadline)
    return nil, left, added == 1 and units == WHOLE and behind or nil, unheard, true
  end

  if verb == 'claim' or verb == 'await' or verb == 'try' then
    local granted, left, before, unheard, queued = claim(verb ~= 'try')
    if used and used ~= marked then
      mark(OWNER, used, token, last_end, now_ms)
    end
    if verb == 'try' and not queued then
      return granted or undecided and -1 or 0
    end
    known = known > 0 and known or now - 1 -- later grants have higher tokens
    return granted or { 0, left, known, before or unheard and '' or nil, unheard and 1 or nil }
  end

  -- For a quorum, with a place in the queue that is given, so that all servers agree on the order.
  if verb == 'vote' then
    local waits = ARGV[at + 3] == 'QUEUE'
    local granted, left = claim(waits, tonumber(ARGV[at + 4]) > 0 and ARGV[at + 4] or '1') -- not as one that shares
    if used and used ~= marked then
      mark(OWNER, used, token, last_end, now_ms)
    end
    local first = call('ZRANGEBYSCORE', QUEUE, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    first = tonumber(first or -1)
    if granted then
      return voted(1, granted, first)
    end
    local refused = waits and 2 or undecided and -1 or 3
    return voted(refused, left, first, id or used and '=' or '', id and tonumber(token) or 0)
  end

  if verb == 'raise' then
    local wanted = ARGV[at + 2]
    if known < tonumber(wanted) then
      call('SET', TOKEN, '+' .. wanted .. mark_of_watcher, 'PX', kept(wanted, now))
    end
    local share, newest, rest = string.match(used and call('HGET', WAITERS, me) or '', '^=(%d+) (%d+) (.*)$')
    local shown = share and tonumber(newest) <= tonumber(wanted)
    if shown and known >= tonumber(wanted) then -- each server numbers by itself: another share may have this one
      local all = call('HGETALL', WAITERS)
      for i = 2, #all, 2 do
        shown = shown and (all[i - 1] == me or string.match(all[i], '^=%d+ (%d+) ') ~= wanted)
      end
    end
    if shown then
      call('HSET', WAITERS, me, '=' .. share .. ' ' .. wanted .. ' ' .. rest)
      token = string.format('%.0f', math.max(token, wanted))
      marked = nil
    end
    if used and used ~= marked then
      mark(OWNER, used, token, last_end, now_ms)
    end
    if shown and watched then
      publish(watched, 'acquired ' .. wanted .. '/' .. share .. string.match(rest, ' .*$'))
    end
    if share then
      return shown and 1 or 0
    end
    -- A number that the server gave to this very vote makes way for the grant's token, also a higher one, and counts
    -- all the same. That of a later vote stays.
    if id ~= me or tonumber(token) > tonumber(wanted) and tonumber(token) ~= tonumber(ARGV[at + 3]) then
      return 0
    end
    call('SET', OWNER, id .. ' ' .. channel .. ' ' .. label .. ' ' .. wanted .. sign, 'KEEPTTL')
    if watched then
      publish(watched, 'acquired ' .. wanted .. ' ' .. label)
    end
    return 1
  end

  -- inspect, and watch, which says in the first place whether the mark was missing
  local missing = 0
  if verb == 'watch' then
    missing = watched and 0 or 1
    put_sign()
    call('SET', TOKEN, string.format('+%.0f %.0f ', known, now + WATCH_MICROS) .. me, 'PX', kept(known, now))
  end
  if verb == 'watch' and used and used ~= marked then
    mark(OWNER, used, token, last_end, now_ms)
  end
  if not owner or used == 0 then
    return { missing }
  end
  local waiting, holders = 0, {}
  for _, waiter in ipairs(call('HVALS', WAITERS)) do
    if tonumber(string.match(waiter, '^%d+ (%d+) ') or 0) * 1000 > now then
      waiting = waiting + 1
    end
  end
  label = label and string.match(label, '^[^\31]*')
  local seen = { missing, tonumber(token), math.max(call('PTTL', OWNER), 0), waiting, label, math.max(now - token, 0) }
  if used then -- the newest first, of those whose leases last longest
    local longest = call('ZRANGEBYSCORE', QUEUE, '-inf', string.format('(%.0f', -now_ms), 'WITHSCORES', 'LIMIT', 0, MOST)
    for i = 1, #longest, 2 do
      local share, newest, who = string.match(call('HGET', WAITERS, longest[i]) or '', '^=(%d+) (%d+) %S+ (.*)$')
      if share then
        holders[#holders + 1] =
          { who = who, units = tonumber(share), token = tonumber(newest), left = -longest[i + 1] - now_ms }
      end
    end
    table.sort(holders, function(a, b)
      return a.token > b.token
    end)
    local newest = holders[1]
    if not newest then
      return { missing }
    end
    local count = call('ZCOUNT', QUEUE, '-inf', string.format('(%.0f', -now_ms))
    seen = { missing, newest.token, newest.left, waiting, newest.who, math.max(now - newest.token, 0), used, count, #holders }
    for _, holder in ipairs(holders) do
      seen[#seen + 1] = holder.who
      seen[#seen + 1] = holder.units
      seen[#seen + 1] = holder.token
      seen[#seen + 1] = holder.left
    end
  elseif lone then
    seen = { missing, seen[2], seen[3], waiting, label, seen[6], lone, 1, 1, label, lone, seen[2], seen[3] }
  end
  local first = waiting > 0 and call('ZRANGEBYSCORE', QUEUE, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, MOST) or {}
  for i = 1, #first, 2 do
    local deadline, who = string.match(call('HGET', WAITERS, first[i]) or '', '^%d+ (%d+) %S+ (.*)$')
    if deadline and tonumber(deadline) * 1000 > now then
      seen[#seen + 1] = string.match(who, '^[^\31]*')
      seen[#seen + 1] = math.max(now - first[i + 1], 0)
    end
  end
  return seen
end

if ARGV[1] ~= 'batch' then
  return answer(ARGV[1], 0, 1)
end

-- Several such calls, each with the number of its arguments before it. What fails is answered with its error's text and
-- leaves the others alone.
local answers, next_call = {}, 2
for i = 1, #KEYS / 4 do
  local count = tonumber(ARGV[next_call])
  local _, reply = pcall(answer, ARGV[next_call + 1], 4 * (i - 1), next_call + 1)
  next_call = next_call + count + 2
  if type(reply) == 'table' and reply.err then
    reply = reply.err
  end
  answers[i] = reply
end
return answers
