//! Times and intervals.

pub(super) const SAME: &[&str] = &[
    // Sums of differences: 24 hours make no day.
    "select ((timestamp '2024-01-02 13:00' - timestamp '2024-01-01') + (timestamp '2024-01-02 13:00' - timestamp \
     '2024-01-01'))::text",
    "select extract(hour from (timestamp '2024-01-01' - timestamp '2024-02-01') + (timestamp '2024-01-24 11:00' - \
     timestamp '2024-01-01'))",
    "select sum(t - timestamp '2024-01-01 05:00')::text from (values (timestamp '2024-01-02 13:00'), (timestamp \
     '2023-12-03 02:00:00.5'), (null)) v(t)",
    "select (sum(t - timestamp '2024-01-01') over (order by t))::text from (values (timestamp '2024-01-02 13:00'), \
     (timestamp '2024-01-03 14:00')) v(t) order by 1",
    "select ((timestamp '2024-01-02 13:00' - timestamp '2024-01-01') - (timestamp '2024-01-01 14:00' - timestamp \
     '2024-01-01') - (timestamp '2024-01-02' - timestamp '2024-01-01'))::text",
    "select (t - timestamp '2024-01-01') + (t - timestamp '2024-01-01') > interval '3 days' from (values (timestamp \
     '2024-01-02 13:00')) v(t)",
    // Times beside texts reach as far as times alone.
    "select i from n where t = '9999-12-31 23:59:59.999999'",
    "select i from n where '1600-01-01' > t",
    "select i from n where t < '9999-12-31 23:59:59.999999' order by i",
    "select i from n where t between '1400-01-01' and '1969-12-31 23:59:59' order by i",
    "select i from n where t in ('1500-01-01', '9999-12-31 23:59:59.999999') order by i",
    "select i from n where t not in ('1500-01-01', '0001-01-01') order by i",
    "select i from n where t is distinct from '9999-12-31' order by i",
    "select t = '2024-03-05 14:07:09.5', t > '2024-03-05 14:07:09.499999' from n where i = 1",
    // An offset counts for nothing where there is no zone, and a time of day where there is only a date.
    "select i from n where t = '2024-03-05 14:07:09.5+02' or t in ('1500-01-01 00:00:00-05', '2024-02-29+01') order by i",
    "select i from n where t between '1970-01-01 00:00+05' and '2024-02-29 00:00 EST' order by i",
    "select coalesce(t, '2024-01-01 02:30+02'), nullif(t, '1500-01-01 00:00+02') from n order by i",
    "select '{2024-01-01 02:30+02}'::timestamp[]::text, (timestamptz '2024-01-01+02')::text",
    "select date '2024-01-01' < '2024-01-01 12:00', date '2024-01-01' in ('2024-01-01 23:59:59'), '2024-01-01 12:00'::date",
    "select (t + '1 day')::text, (t - '1970-01-01')::text from n where i in (1, 7) order by i",
    "select interval '1 day' = '24:00:00', '1 month' > interval '29 days', interval '1 day' in ('24:00:00', '2 days')",
    // The type of several.
    "select coalesce(t, date '9999-12-31'), greatest(t, date '0001-01-01'), nullif(date '9999-12-31', t) from n order by i",
    "select case when i = 1 then t else timestamptz '9999-12-31 00:00+00' end from n where i < 4 order by i",
    "select x from (select date '0001-01-01' as x union all select timestamptz '9999-12-31 00:00+00') as q order by 1",
    "select array[date '9999-12-31', t]::text, nullif(t, timestamptz '1500-01-01 00:00+00') from n where i < 3 order by i",
    "select nullif(interval '1 day', '24 hours'), nullif(interval '1 mon', '30 days'), nullif(interval '1 day', interval '24 hours'), case interval '30 days' when interval '1 month' then 1 end",
    // Times.
    "select to_char(t, 'YYYY-MM-DD') from n where i = 1",
    "select to_char(t, 'FMDay, DD FMMonth YYYY, HH24:MI:SS.MS') from n where i in (1, 2, 3) order by i",
    "select to_char(date '2024-03-05', 'Dy DD Mon YY, Q, WW, IW, DDD')",
    "select to_char(1234567.891, 'FM999,999,990.00'), to_char(-0.5, '0.99'), to_char(12, '0000')",
    "select to_date('05 Mar 2024', 'DD Mon YYYY'), to_date('20240305', 'YYYYMMDD')",
    "select to_timestamp('2024-03-05 14:07', 'YYYY-MM-DD HH24:MI')",
    "select timestamp '2024-07-01 12:00:00' at time zone 'Europe/Berlin'",
    "select timestamptz '2024-07-01 12:00:00+00' at time zone 'America/New_York'",
    "select i from n where t > '2500-01-01'",
    "select t from n where t is not null order by t",
    "select max(t), min(t) from n",
    // Parts of times, which become ranges of them.
    "select i from n where extract(year from t) = 2024 order by i",
    "select i from n where not (extract(year from t) = 2024) order by i",
    "select i from n where extract(year from t) <> 2024 order by i",
    "select i from n where extract(year from t) = 2024.5 order by i",
    "select i from n where extract(year from t) > 2023.5 order by i",
    "select i from n where extract(year from t) >= 2024 order by i",
    "select i from n where extract(year from t) < 1970 or date_part('year', t) > 2024 order by i",
    "select i from n where date_part('year', t) in (1970, 9999) order by i",
    "select i from n where date_part('year', t) between 1500 and 1970 order by i",
    "select i from n where extract(year from t) is distinct from 2024 order by i",
    "select i from n where extract(year from t) = 0 or extract(year from t) = -1",
    "select i from n where extract(year from t::date) = 2024 order by i",
    "select i from n where extract(year from t at time zone 'America/New_York') = 1969 order by i",
    "select i from n where date_trunc('month', t) = '2024-02-01' order by i",
    "select i from n where date_trunc('month', t) = '2024-02-10' order by i",
    "select i from n where date_trunc('month', t) < '2024-02-10' order by i",
    "select i from n where date_trunc('month', t) >= '2024-02-10' order by i",
    "select i from n where date_trunc('year', t) <= timestamp '2024-01-01' order by i",
    "select i from n where date_trunc('day', t) = date '2024-02-29' order by i",
    "select i from n where date_trunc('millennium', t) = '2001-01-01' order by i",
    // Intervals go by their length.
    "select x::text from (values (interval '1 month'), (interval '31 days'), (interval '29 days')) as v(x) order by x",
    "select max(x)::text, min(x)::text from (values (interval '1 month'), (interval '31 days'), (null)) as v(x)",
    "select (max(x) filter (where x < interval '31 days'))::text from (values (interval '1 month'), (interval '31 days')) as \
     v(x)",
    "select interval '30 days' in (interval '1 month'), interval '30 days' in (interval '1 day', null)",
    "select interval '2 months' between interval '1 day' and interval '61 days'",
    "select case interval '24 hours' when interval '1 day' then 1 else 2 end",
    // Intervals of one length.
    "select count(*), count(distinct v) from (values (interval '30 days'), (interval '1 mon'), (interval '2 days'), (null)) \
     as t(v)",
    "select v::text, count(*) from (values (interval '2 days'), (interval '2 days'), (interval '1 year')) as t(v) group by v \
     order by v",
    "select count(*) from (select distinct v from (values (interval '30 days'), (interval '1 mon')) as t(v)) as u",
    "select count(*) from (select v from (values (interval '30 days')) as t(v) union select interval '1 mon') as u",
    "select count(*) from (values (interval '30 days')) as a(v) join (values (interval '1 mon')) as b(v) using (v)",
    "select greatest(interval '40 days', interval '1 mon')::text, least(interval '40 days', null, interval '1 mon')::text",
    "select count(*) over (partition by v) from (values (interval '30 days'), (interval '1 mon')) as t(v)",
    // Abbreviations are offsets.
    "select timestamp '2024-07-01 12:00' at time zone 'CET', timestamptz '2024-07-01 12:00+00' at time zone 'cet', \
     timestamptz '2024-07-01 12:00+00' at time zone 'CEST'",
    "select z, timestamptz '2024-07-01 12:00+00' at time zone z, timestamp '2024-01-15 12:00' at time zone z from \
     (values ('EST'), ('EDT'), ('MST'), ('HST'), ('EET'), ('MET'), ('WET'), ('PST'), ('PDT'), ('BST'), ('JST'), \
     ('IST'), ('NST'), ('NPT'), ('AEDT'), ('CHAST'), ('UTC'), ('GMT'), ('Z'), ('EST5EDT'), ('Europe/Paris')) as v(z)",
    "select timestamptz '2024-07-01 12:00 CET', '2024-07-01 12:00:00.5 EST'::timestamptz, timestamptz '2024-07-01 \
     12:00Z', timestamptz '2024-07-01 12:00:00 cest', timestamptz '2024-07-01 12:00 Europe/Paris'",
    // What lies between two times, beside intervals, numbers and dates.
    "select i, (t - timestamp '2000-01-01 01:00' + interval '1 hour')::text, (interval '1 month' - (t - timestamp \
     '2000-01-01'))::text, ((t - timestamp '2000-01-01') / 2)::text, ((t - timestamp '2000-01-01') * 1.5)::text, \
     coalesce(t - timestamp '2000-01-01', interval '0')::text, greatest(t - timestamp '2000-01-01', interval '1 \
     day')::text, date_trunc('day', t - timestamp '2000-01-01')::text, date '2024-01-01' + (t - timestamp \
     '2024-01-01') from n where t > timestamp '1900-01-01' and t < timestamp '2100-01-01' order by i",
    "select justify_days(timestamp '2024-03-01 12:00' - timestamp '2024-01-01')::text, extract(day from timestamp \
     '2024-03-01 12:00' - timestamp '2024-01-01' + interval '1 hour'), avg(t - timestamp '2024-01-01') is null from n",
    // A time without a zone passes an offset over.
    "select timestamp '2024-07-01 12:00+02', timestamp '2024-07-01T12:00:00.5Z', '2024-07-01 12:00:00-05:30'::timestamp, \
     timestamp '2024-07-01 12:00 CET', timestamptz '2024-07-01 12:00+02'",
    // Differences of times beside intervals, and quoted ones.
    "select i from n where t - timestamp '2024-02-29' between '1 hour' and '1 month' order by i",
    "select i from n where t - timestamp '2024-01-01' > '1 hour' order by i",
    "select i from n where t - timestamp '2024-01-01' > interval '1 hour' order by i",
    "select i from n where interval '59 days' in (t - timestamp '2024-01-01', null) order by i",
    "select (x)::text from (select t - timestamp '2024-02-28 22:30' as x from n where i = 6 union all select interval '1 month') q order by 1",
    "select to_char(t - timestamp '2024-02-28 22:30', 'HH24:MI') from n where i = 6",
    "select to_char(interval '2:30', 'HH24:MI:SS'), to_char(interval '14 months 3 days 26:03:04.01', 'YYYY-MM-DD HH24:MI:SS.US')",
    "select to_char(interval '-26:03:04.01', 'HH24:MI:SS MS'), to_char(interval '-14 months -3 days', 'YYYY-MM-DD DDD')",
    "select coalesce(null::time, time '12:00')",
    "select date '2024-01-05' - '2024-01-01', '2024-01-05' - date '2024-01-01'",
    "select time '01:02:03' + '1 hour', '1 hour' + time '01:02:03', (interval '1 day' + '2 hours')::text",
    "select i from n where i > 5 and 'yes' order by i",
    // Parts of one digit.
    "select '2024-1-1'::date, '2024-1-1 3:4:5'::timestamp, date '2024-1-5', timestamp '2024-1-5 1:02', ('3:4'::time)::text, \
     (time '3:4:5.5')::text, timestamptz '2024-1-5 1:2+2', timestamptz '2024-1-5 1:2 CET', '2024-1-5 1:2:3.44'::timestamp(1)",
    "select i from n where t = '2024-2-29' or t in ('1970-1-1 0:0') or t::date = '1500-1-1' order by i",
    "select x::timestamp, x::timestamptz from (values ('2024-1-5'), ('2024-01-5 3:4'), (null), ('2024-01-05T03:04:05.5')) as \
     v(x)",
    "select x::date from (values ('2024-1-5'), ('2024-11-15')) as v(x)",
    "select (x::time)::text from (values ('3:4'), ('13:04:05')) as v(x)",
    "select ((case when i = 1 then t - timestamp '2024-03-05' else interval '1 day' end) + interval '1 hour')::text from n order by i",
    "select ((case when i = 1 then t - timestamp '2024-03-05' else interval '1 day' end) * 2)::text from n order by i",
    "select coalesce(t - timestamp '2024-02-29', '1 day')::text from n where i in (4, 6) order by i",
    "select time '010203', time '0102', time '01:02:03' in ('1:2:3'), time '01:02:03' between '1:2' and '1:2:4'",
    "select timestamp '2024-7-1 1:2:3 Europe/Berlin'",
    "select x::timestamp from (values ('2024-07-01 12:00:00+02')) as v(x)",
    "select i, rank() over (order by t::time), sum(i) over (order by t::time desc nulls last) from n where t is not null order by i",
    "select i, rank() over (order by t - timestamp '2024-02-29'), count(*) over (order by interval '1 day' * i) from n where i < 7 order by i",
    "select to_char(timestamp '2024-03-05', 'TMMonth DD, TMDay')",
    "select pg_typeof((case when i = 1 then t::date else timestamptz '2024-01-01+00' end) + interval '1 hour')::text from n where i = 1",
    "select ((case when i = 1 then t::date else t end) + interval '1 hour')::text from n where i in (1, 6) order by i",
    "select i from n where '2024-02-29 2:30' in (t::date, t) order by i",
    "select i from n where '2024-02-29' not in (t::date, t, '1970-01-01') order by i",
    "select (-(t - timestamp '2023-12-31'))::text, (-(i - 2)), -(d - 1.5), -(f - f) from n order by i",
    "select time '01:02:03.4567'::time(3)::text, time(1) '01:02:03.4567'::text, timestamp(2) '2024-01-01 01:02:03.4567'",
    "select x::time(0)::text from (values (time '1:2:3.5'), (null), (time '23:59:58.499')) v(x)",
    "select (x::interval)::text from (values ('2'), ('1.5'), ('1.5 weeks'), ('01:02:03'), ('1 day 2:03'), ('P1D'), ('1 day ago'), \
     ('1-2'), (null)) v(x)",
    "select (interval '36 hours'::text::interval)::text, ((i::text)::interval)::text from n where i < 4 order by i",
    "select '2024-02-29 24:00'::timestamp, '2024-02-29 12:34 PM'::timestamp, ('12:34 am'::time)::text, x::timestamp from \
     (values ('2024-12-31 24:00:00'), ('2024-01-01 1:02pm')) v(x)",
    "select (time '01:00' + (timestamp '2024-01-02' - timestamp '2024-01-01 22:00'))::text, \
     ((timestamp '2024-01-02 03:04' - date '2024-01-01')::time)::text, (time '01:02'::interval)::text, \
     (interval '1 day -02:03'::time)::text",
    "select make_time(13, 5, 7.25)::text, make_time(10, 30, 1)::text, to_char(t::date, 'TZ YYYY') from n order by i",
    // Dates beside moments, which bound them as dates.
    "select i from n where t::date < date '2024-02-29' + interval '1 day' and t::date >= timestamp '1970-01-01 00:00:01'
     order by i",
    "select d from (values (date '0001-01-01'), ('1994-01-01'), ('1995-01-01'), (null), ('9999-12-31')) as x(d)
     where d < date '1994-01-01' + interval '1 year' and timestamp '0001-01-01 12:00' < d order by d",
    "select d, d = timestamp '1994-01-01', d <> timestamp '1994-01-01 12:00', d >= timestamp '1994-01-01 12:00',
     d <= timestamp '1994-01-01 23:59:59.999999' from (values (date '1994-01-01'), ('1994-01-02'), (null)) as x(d)
     order by d",
    "select count(*) from (values (date '1994-01-01'), ('1994-01-02')) as x(d)
     join (values (date '1994-01-02'), (null)) as y(e)
      on d < e + interval '12 hours' and d > timestamp '1993-12-31 23:00'
     where d <> timestamp '1994-01-01 00:00:00.000001' and d not in (timestamp '1994-01-02 00:00:01')",
    // A condition without a subquery keeps others from failing, beside one with a subquery.
    "with b(i, k) as (values (1, 0), (2, 5))
     select count(*) from b where i in (select i from b) and k <> 0 and 10 / k >= 0",
    "select count(*) from n where i in (select k from m) and s ~ '^[0-9]+$' and s::int > 0",
];
