//! Texts and patterns.

pub(super) const SAME: &[&str] = &[
    // Text of what is in a table.
    "select t::text, t || '', concat(t, i > 1), d::text, f::text from n order by i",
    "select string_agg(f::text, ',' order by i), string_agg(t::text, '|' order by i) from n",
    "select array_agg(t order by i)::text, array_to_string(array_agg(f order by i), ',') from n",
    "select row(i, s, f)::text from n order by i",
    "select format('%s is %L in %I', i, s, 'Total Sum') from n where i is not null order by i",
    "select extract(second from t), extract(year from t) / 2, date_part('dow', t) from n where t is not null order by i",
    "select date_trunc('century', t), date_trunc('week', t) from n where t is not null order by i",
    "select count(*) from n where s similar to '(a|b)%' or s similar to '[d-e]'",
    "select i from n where s similar to s order by i",
    "select round(f) from n where i in (1, 3, 4) order by i",
    "select (interval '1 hour' * i)::text, (interval '1 month' / 4)::text from n where i < 4 order by i",
    "select avg(d)::text is not null, sum(d)::text from n",
    "select x::text, (x / 2)::text, (x * 3)::text from (values (1.5::float8), (2.25), (1e20), (0.1)) as v(x)",
    "select x::text from (values (1.5::real), (2.25), (1e10)) as v(x)",
    "select s like s, s like '%' || s || '%', s not like '_' || s, s ilike upper(s), upper(s) ilike s || '%' \
     from n order by i",
    "select s like left(s, 1) || '!%' escape '!', s not ilike s || '%' escape '!' from n order by i",
    "select x like p, x ilike p, x not like p, x ~~ p, x !~~* p from (values ('a%c', 'a\\%c'), ('abc', 'a\\%c'), \
     ('abc', 'A_C'), ('aXbXc', '%X%x'), ('', ''), ('', '%'), ('aaa', 'a%a%a%a'), ('é', '_'), (null, '%'), \
     ('ÀÉ', 'àé'), ('b', 'a\\'), ('line\nline', 'l%e')) as v(x, p)",
    "select x like 'a%b%c', x ilike 'A%É', x not like '%a_b%', x like 'a\\%%b', x like '%\\__%', x like '%', \
     x like '', x ilike '%é%', x like 'a%', x ilike 'A%', x like '%_%_', x not ilike '%B%c', x like null, \
     x like '%\\\\' from (values ('a1b2c'), ('aé'), ('AÉ'), ('xaxbx'), ('a%zb'), ('q_z'), (''), \
     ('abc'), ('ab'), (null), ('a\\'), ('aab'), ('ẞé')) \
     as v(x)",
    "select i from n where s like 'a%' or s like '_%_' or s like 'b%' and s not like 'b_%z' order by i",
    "select strpos(x, p), position(p in x) from (values ('abc', 'c'), ('éab', 'b'), ('', ''), ('a', ''), ('', 'a'), \
     ('aaab', 'aab'), (null, 'a')) as v(x, p)",
    "select x ~ p, regexp_replace(x, p, '<>', 'g'), (regexp_match(x, p))[1], regexp_count(x, p, 1, 'n') from (values \
     ('a1b', '\\d'), ('one two', '\\mt'), ('one two', 'e\\M'), ('a.b', '[[:punct:]]'), ('aé_1', '[[:alnum:]]+'), \
     ('x', '\\y\\w'), ('a&&b', '[a&&b]+'), ('one', '[[:<:]]o'), ('٣', '\\d'), (null, 'a')) as v(x, p)",
    "select array_to_string(regexp_split_to_array(x, p), ','), (regexp_match('x', '\\mx', 'n'))[1], \
     array_to_string(regexp_split_to_array('a1b22c', '\\d+'), ',') from (values ('a1b', '\\d'), ('one two', '\\M ')) as v(x, p)",
    "select i from n where exists (select 1 from m where n.s like n.s || m.k or 'x' ~ ('^' || n.i)) order by i",
    // Patterns.
    "select (regexp_match('a', '(b)?(a)'))[2], (regexp_match('a', '(b)?(a)'))[1], (regexp_match('ab', 'b'))[1], \
     regexp_match('a', 'b') is null, regexp_match(null, 'b') is null",
    "select (regexp_match(s, '^(.)(x)?'))[1] from n order by i",
    "select regexp_replace('abc', '(b)', '\\11'), regexp_replace('abc', '(b)', '<\\1\\1\\&>')",
    "select '&' ~ '^[a&&b]$', '~' ~ '^[~~]$', 'b' ~ '^[a-c]$', ']' ~ '^[]]$', 'x' ~ '^[[:alpha:]&&]$'",
    "select '\u{663}' ~ '\\d', '3' ~ '^[\\d]$', 'a' ~ '\\D', 'ab' ~ 'a\\Bb', 'a\\b' ~ 'a\\Bb', 'a b' ~ '\\bb', 'a b' ~ '\\mb\\M', \
     'ab' ~ '\\yb', 'ab' ~ '\\Yb', 'a' ~ '[[:<:]]a[[:>:]]', 'ab' ~ '[[:<:]]b', 'ab' ~ 'b\\Z'",
    "select s ~ ('^' || left(s, 1)), s !~ ('^' || left(s, 1)), s ~* ('^' || lower(left(s, 1))), s !~* s from n order by i",
    // Texts as bytes.
    "select encode(x::bytea, 'hex'), encode(convert_to(x, 'UTF8'), 'hex') from (values ('\\x4142'), ('abc'), \
     ('a\\\\b'), ('\\001\\377'), ('\\x 4A 4b'), ('\\x'), (''), (null), ('\u{e4}')) as v(x)",
    "select encode('\\x4142'::bytea, 'hex'), encode(bytea '\\x4142', 'hex'), encode('a\\\\b\\001'::bytea, 'hex'), \
     encode('abc'::bytea::bytea, 'hex'), encode(cast(null as bytea), 'hex'), '\\x41'::bytea = 'A'::bytea",
    "select encode(s::bytea, 'hex'), length(s::bytea) from n order by i",
    "select octet_length(s), octet_length('\\xff00'::bytea), bit_length('\\xff'::bytea), length('\\xff00'::bytea) from n order by i",
    "select get_byte('\\x61ff'::bytea, 1), get_bit('\\x02'::bytea, 1), '\\x61'::bytea || '' = '\\x61', ('\\x61'::bytea || '\\xff')::text",
    "select s::bytea < any(array['b'::bytea, 'c'::bytea]), s::bytea > all(array['a'::bytea]) from n order by i",
    "select array_position(array['a'::bytea, 'b'], 'b'), array['a'::bytea, null]::text, array_replace(array['a'::bytea], 'a', '\\xff')::text",
    "select 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', \
     'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid = any('{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'), \
     uuid 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' in ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')",
    "select case 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid when 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' then 1 end, \
     array_position(array['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid], 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')",
    "select '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'::uuid::text, uuid 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', \
     cast(null as uuid), (array['{A0EEBC999C0B4EF8BB6D6BB9BD380A11}', null]::uuid[])::text, \
     ('{a0eebc999c0b4ef8bb6d6bb9bd380a11}'::uuid[])::text",
    "select x::uuid, x::uuid = 'a0eebc999c0b4ef8bb6d6bb9bd380a11', x::uuid in ('{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}'), \
     coalesce(x::uuid, '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'), (array[x]::uuid[])::text from (values \
     ('{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'), (null), ('a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a12')) as v(x)",
    "select array[uuid 'a0eebc999c0b4ef8bb6d6bb9bd380a11'] @> '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', \
     array[uuid 'a0eebc999c0b4ef8bb6d6bb9bd380a11'] = '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', \
     case when true then 'A0EEBC999C0B4EF8BB6D6BB9BD380A11' else uuid 'a0eebc999c0b4ef8bb6d6bb9bd380a12' end",
    // A literal has the type of what it stands beside.
    "select coalesce(t, '1970-01-01'), nullif(t, '1970-01-01'), greatest(t, '2024-01-01 00:00:00.5'), \
     least('2000-01-01', t), case when i > 3 then t else '2000-01-01' end from n order by i",
    "select coalesce(t::date, '1970-01-02'), nullif(t::date, '1970-01-01'), case when i > 3 then t::date else \
     '2000-01-01' end from n order by i",
    "select i, (i > 2) in ('true', 'f'), (i > 2) between 'f' and 't', coalesce(i > 2, 'false'), nullif(i > 2, 'yes'), \
     case when i is null then 'no' else i > 2 end, (i > 2) = any('{t}') from n order by i",
    "select '\\x61'::bytea = '\\x61', s::bytea in ('\\x61', '\\x62'), s::bytea <> '\\x', s::bytea between '\\x61' and \
     'b', encode(nullif(s::bytea, '\\x61'), 'hex'), encode(case when i > 1 then s::bytea else '\\x01' end, 'hex'), \
     s::bytea = any('{\"\\\\x61\"}'), s::bytea < all('{\"\\\\x62\"}') from n order by i",
    "select regexp_substr('Σa1', '[[:alpha:]]'), regexp_substr('xaby', '(a)b'), regexp_substr('x', 'y')",
    "select regexp_split_to_table('1٣2', '\\d'), regexp_split_to_table('aΣbéc', '[[:alpha:]]')",
    "select x from regexp_split_to_table('a1b22c', '\\d+') as x",
    "select upper('ßaé'), upper('ﬁ'), initcap('ßa éa x1y'), lower('ΣΑΣ'), upper('ǅ'), lower(s), upper(s) from n order by i",
    "select U&'\\00e9x', regexp_replace('abcb', 'b', '-', '')",
];
