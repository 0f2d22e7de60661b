/** Random scenarios for the model test. */
import fc from 'fast-check';
import type { Scenario, ScenarioEvent } from './run-scenario.ts';

const units = fc.constantFrom('app', 'base');
const place = fc.constantFrom('*', 'test', 'pre', 'prod', 'test-1', 'prod-1', 'prod-2');
const cluster = fc.constantFrom('test-1', 'test-2', 'pre-1', 'prod-1', 'prod-2', 'prod-3');
const seconds = fc.constantFrom(1, 15, 40, 65, 130, 400, 4000);

const event: fc.Arbitrary<ScenarioEvent> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('push' as const), place, unit: units, bad: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('push' as const), place, unit: units, bad: fc.constant(false) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('revert' as const), back: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('docs' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('burst' as const), count: fc.integer({ min: 2, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reach' as const), cluster }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), cluster }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('halt' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('restart' as const), seconds: fc.constantFrom(0, 60, 300) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('crash' as const), at: fc.integer({ min: 0, max: 20 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('jump' as const),
      seconds: fc.constantFrom(-86_400, -200, 200, 5000, 86_400),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('unhealthy' as const),
      cluster,
      how: fc.constantFrom('No' as const, 'Progressing' as const, 'Failed' as const, 'Unknown' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('trouble' as const),
      cluster,
      how: fc.constantFrom(
        'None' as const,
        'Transient' as const,
        'Permanent' as const,
        'Held' as const,
        'UnitPaused' as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('member' as const),
      cluster,
      stage: fc.constantFrom('test' as const, 'pre' as const, 'prod' as const, 'gone' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('backup' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const) }) },
);

const stage = fc.record({
  maxConcurrent: fc.constantFrom(1, 1, 2, 3),
  maxFailed: fc.constantFrom(0, 0, 1),
  soakSeconds: fc.constantFrom(0, 50, 110),
  graceSeconds: fc.constantFrom(60, 600, 3600),
  maxSkipped: fc.constantFrom(0, 1, 2),
});

export const scenario: fc.Arbitrary<Scenario> = fc.record({
  stages: fc.tuple(stage, stage, stage),
  events: fc.array(event, { minLength: 3, maxLength: 24 }),
});
