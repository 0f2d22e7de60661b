import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Span, spansOf } from '../../../src/observability/trace/spans.ts';
import { spanIdOf, type TraceStep, traceIdOf } from '../../../src/observability/trace/trace.ts';
import { later } from '../../controllers/remedyjob/jobs.ts';
import { NOW } from '../../support/virtual-clock.ts';

const TRACE_ID = traceIdOf('test');

/** Seconds after NOW; null: not recorded. */
type Times = readonly [start: number | null, end: number | null];

function step(key: string, [start, end]: Times, steps: readonly TraceStep[] = []): TraceStep {
  return {
    key,
    name: key,
    outcome: 'Unset',
    startedAt: start === null ? undefined : later(start),
    endedAt: end === null ? undefined : later(end),
    steps,
  };
}

function spansIn(root: TraceStep): readonly Span[] {
  return spansOf({ traceId: TRACE_ID, root });
}

/** Each span as `name start-end`, in seconds, with a mark where its times are not as recorded: `~` moved, `?` no end. */
function shown(root: TraceStep): string {
  return spansIn(root)
    .map(({ name, startMs, endMs, attributes }) => {
      const [start, end] = [startMs, endMs].map((ms) => (ms - NOW.getTime()) / 1000);
      const moved = attributes['kubenode.time_adjusted'] ? '~' : '';
      const open = attributes['kubenode.end_unknown'] ? '?' : '';
      return `${name} ${start}-${end}${moved}${open}`;
    })
    .join(', ');
}

describe('the spans of a trace', () => {
  it.each<[name: string, root: TraceStep, expected: string]>([
    [
      'are as recorded',
      step('root', [0, 10], [step('a', [1, 2]), step('b', [2, 9])]),
      'root 0-10, a 1-2, b 2-9',
    ],
    ['leave out a step that has not begun', step('root', [0, 10], [step('a', [null, null])]), 'root 0-10'],
    [
      'leave out the parts of a step that has not begun, too',
      step('root', [0, 10], [step('a', [null, null], [step('b', [null, null])])]),
      'root 0-10',
    ],
    [
      'end a step with its parent where no end is recorded',
      step('root', [0, 10], [step('a', [3, null])]),
      'root 0-10, a 3-10?',
    ],
    [
      'begin a step at its end where only that is recorded',
      step('root', [0, 10], [step('a', [null, 4])]),
      'root 0-10, a 4-4',
    ],
    [
      'begin a step with its first part where no start is recorded',
      step('root', [0, 10], [step('a', [null, 8], [step('b', [5, 6])])]),
      'root 0-10, a 5-8, b 5-6',
    ],
    ['never end a step before it begins', step('root', [0, 10], [step('a', [6, 4])]), 'root 0-10, a 6-6~'],
    [
      'keep a clock that is behind within the parent',
      step('root', [5, 10], [step('a', [1, 7])]),
      'root 5-10, a 5-7~',
    ],
    [
      'keep a clock that is ahead within the parent',
      step('root', [0, 10], [step('a', [8, 14])]),
      'root 0-10, a 8-10~',
    ],
    [
      'keep a part of a part within both',
      step('root', [0, 10], [step('a', [2, 4], [step('b', [1, 20])])]),
      'root 0-10, a 2-4, b 2-4~',
    ],
    [
      'of a root that ends before it begins begin with its parts',
      step('root', [10, 7], [step('a', [5, 6])]),
      'root 5-7~, a 5-6',
    ],
    ['of a root that ends before it begins have no length without parts', step('root', [10, 4]), 'root 4-4~'],
    [
      'of a root without times reach over its parts',
      step('root', [null, null], [step('a', [5, 6]), step('b', [2, 9])]),
      'root 2-9?, a 5-6, b 2-9',
    ],
    ['are none without any time', step('root', [null, null], [step('a', [null, null])]), ''],
  ])('%s', (_, root, expected) => {
    expect(shown(root)).toBe(expected);
  });

  it('treat a text that cannot be parsed as missing', () => {
    expect(shown({ ...step('root', [0, 10]), endedAt: 'soon' })).toBe('root 0-0?');
  });

  it('have the IDs of their steps, which never vary', () => {
    const [root, a, b] = spansIn(step('root', [0, 10], [step('a', [1, 2], [step('b', [1, 2])])]));
    expect(root).toMatchObject({ traceId: TRACE_ID, spanId: spanIdOf(TRACE_ID, ['root']) });
    expect(root).not.toHaveProperty('parentSpanId');
    expect(a).toMatchObject({ parentSpanId: root?.spanId });
    expect(b).toMatchObject({ parentSpanId: a?.spanId, spanId: spanIdOf(TRACE_ID, ['root', 'a', 'b']) });
    expect(TRACE_ID).toMatch(/^[0-9a-f]{32}$/);
    expect(root?.spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  it('have the reason of a failure as error.type, and its text as status', () => {
    const failed = { ...step('root', [0, 1]), outcome: 'Error' as const };
    const parts = { ...failed, reason: 'TimedOut', because: 'no answer' };
    expect(spansIn(parts)).toMatchObject([
      { error: 'TimedOut: no answer', isOk: false, attributes: { 'error.type': 'TimedOut' } },
    ]);
    expect(spansIn(failed)).toMatchObject([{ error: 'Failed', attributes: { 'error.type': 'Failed' } }]);
    expect(spansIn({ ...failed, outcome: 'Ok' })[0]).not.toHaveProperty('error');
  });

  it('keep each event within its span', () => {
    const events = [later(-5), later(3), later(50), 'never'].map((at) => ({ name: 'event', at }));
    const [span] = spansIn({ ...step('root', [0, 10]), events });
    expect(span?.events.map(({ atMs }) => (atMs - NOW.getTime()) / 1000)).toEqual([0, 3, 10]);
  });

  it('never end before they begin, and stay within their parent, whatever is recorded', () => {
    const time = fc.option(fc.integer({ min: -50, max: 50 }));
    const times = fc.tuple(time, time);
    const leaf = fc.tuple(times, fc.constant([]));
    const part = fc.tuple(times, fc.array(leaf, { maxLength: 3 }));
    const anyStep = fc.tuple(times, fc.array(part, { maxLength: 3 }));
    fc.assert(
      fc.property(anyStep, (drawn) => {
        const spans = spansIn(toStep(drawn, '0'));
        const byId = new Map(spans.map((span) => [span.spanId, span]));
        expect(byId.size).toBe(spans.length);
        for (const { startMs, endMs, parentSpanId } of spans) {
          expect(endMs).toBeGreaterThanOrEqual(startMs);
          if (parentSpanId === undefined) continue;
          const parent = byId.get(parentSpanId);
          expect(startMs).toBeGreaterThanOrEqual(parent?.startMs ?? Number.POSITIVE_INFINITY);
          expect(endMs).toBeLessThanOrEqual(parent?.endMs ?? Number.NEGATIVE_INFINITY);
        }
      }),
    );
  });
});

type Drawn = readonly [Times, readonly Drawn[]];

function toStep([times, steps]: Drawn, key: string): TraceStep {
  return step(
    key,
    times,
    steps.map((each, index) => toStep(each, `${key}.${index}`)),
  );
}
