/** Scenarios that the model test found, as it shrank them. `reference` marks an error of the reference model. */
import { describe, expect, it } from 'vitest';
import { runScenario, type Scenario, type ScenarioStage } from './model/run-scenario.ts';

const QUICK: ScenarioStage = {
  maxConcurrent: 1,
  maxFailed: 0,
  soakSeconds: 0,
  graceSeconds: 60,
  maxSkipped: 0,
};
const SLOW: ScenarioStage = { ...QUICK, soakSeconds: 50 };

const SCENARIOS: readonly (readonly [name: string, scenario: Scenario])[] = [
  [
    'S23 gives a slot to a cluster that a restored hub finds in progress, once its stage reaches that commit',
    {
      stages: [QUICK, QUICK, SLOW],
      events: [
        { do: 'wait', seconds: 15 },
        { do: 'backup' },
        { do: 'wait', seconds: 130 },
        { do: 'push', place: 'prod-1', unit: 'app', bad: false },
        { do: 'pause', cluster: 'test-1' },
        { do: 'crash', at: 0 },
        { do: 'restore' },
      ],
    },
  ],
  [
    'S23 gives no slot to a cluster that returns after it waited for a paused unit, while another one uses the slot',
    {
      stages: [QUICK, { ...QUICK, soakSeconds: 110 }, QUICK],
      events: [
        { do: 'wait', seconds: 130 },
        { do: 'trouble', cluster: 'prod-1', how: 'UnitPaused' },
        { do: 'wait', seconds: 40 },
        { do: 'reach', cluster: 'prod-1' },
        { do: 'restart', seconds: 0 },
        { do: 'wait', seconds: 1 },
        { do: 'revert', back: 1 },
      ],
    },
  ],
  [
    'S31 does not start content that another stage assigned while its own stage has no commit',
    {
      stages: [QUICK, QUICK, QUICK],
      events: [
        { do: 'trouble', cluster: 'test-1', how: 'Held' },
        { do: 'push', place: '*', unit: 'app', bad: false },
        { do: 'member', cluster: 'test-1', stage: 'pre' },
        { do: 'reach', cluster: 'test-1' },
        { do: 'revert', back: 1 },
        { do: 'restart', seconds: 0 },
      ],
    },
  ],
  [
    'S23 keeps the failures of the backup in a restored hub, and they use no slot (reference)',
    {
      stages: [{ ...QUICK, maxFailed: 1 }, QUICK, QUICK],
      events: [
        { do: 'trouble', cluster: 'test-1', how: 'Permanent' },
        { do: 'backup' },
        { do: 'member', cluster: 'pre-1', stage: 'test' },
        { do: 'restore' },
        { do: 'backup' },
        { do: 'member', cluster: 'test-1', stage: 'test' },
        { do: 'revert', back: 1 },
      ],
    },
  ],
  [
    'S32 lets content come back that was proven there before it failed (reference)',
    {
      stages: [QUICK, QUICK, QUICK],
      events: [
        { do: 'wait', seconds: 4000 },
        { do: 'unhealthy', cluster: 'prod-2', how: 'Failed' },
        { do: 'push', place: 'prod', unit: 'app', bad: false },
        { do: 'revert', back: 1 },
        { do: 'wait', seconds: 65 },
        { do: 'push', place: '*', unit: 'app', bad: false },
        { do: 'restore' },
        { do: 'crash', at: 0 },
      ],
    },
  ],
  [
    'S39 counts a gap by the recorded observations when the clock is set back in an outage (reference)',
    {
      stages: [SLOW, QUICK, QUICK],
      events: [
        { do: 'wait', seconds: 40 },
        { do: 'halt' },
        { do: 'reach', cluster: 'test-1' },
        { do: 'restart', seconds: 300 },
        { do: 'revert', back: 1 },
        { do: 'push', place: '*', unit: 'app', bad: false },
        { do: 'jump', seconds: -200 },
      ],
    },
  ],
  [
    'S34 moves a stage without clusters to the next commit with the first one that returns (reference)',
    {
      stages: [{ ...QUICK, maxConcurrent: 3 }, QUICK, QUICK],
      events: [
        { do: 'member', cluster: 'prod-2', stage: 'test' },
        { do: 'reach', cluster: 'prod-2' },
        { do: 'reach', cluster: 'test-1' },
        { do: 'push', place: 'test-1', unit: 'app', bad: false },
        { do: 'jump', seconds: -86_400 },
        { do: 'unhealthy', cluster: 'test-1', how: 'No' },
        { do: 'wait', seconds: 65 },
      ],
    },
  ],
  [
    'S34 moves on although a cluster from another stage is still in progress (reference)',
    {
      stages: [{ ...QUICK, maxFailed: 1, soakSeconds: 110 }, QUICK, { ...QUICK, soakSeconds: 110 }],
      events: [
        { do: 'push', place: 'test-1', unit: 'app', bad: true },
        { do: 'wait', seconds: 400 },
        { do: 'push', place: '*', unit: 'app', bad: false },
        { do: 'member', cluster: 'prod-2', stage: 'test' },
        { do: 'push', place: '*', unit: 'app', bad: false },
      ],
    },
  ],
  [
    'S39 continues the soak of the backup in a restored hub, and forgets later failures (reference)',
    {
      stages: [SLOW, SLOW, { ...QUICK, soakSeconds: 110 }],
      events: [
        { do: 'wait', seconds: 400 },
        { do: 'backup' },
        { do: 'unhealthy', cluster: 'prod-2', how: 'Failed' },
        { do: 'reach', cluster: 'prod-2' },
        { do: 'wait', seconds: 1 },
        { do: 'push', place: '*', unit: 'app', bad: false },
        { do: 'restore' },
      ],
    },
  ],
  [
    'S23 lets a cluster that a restored hub finds ahead of its stage finish without a slot (reference)',
    {
      stages: [QUICK, QUICK, QUICK],
      events: [
        { do: 'backup' },
        { do: 'wait', seconds: 4000 },
        { do: 'burst', count: 2 },
        { do: 'member', cluster: 'prod-3', stage: 'test' },
        { do: 'restore' },
        { do: 'crash', at: 0 },
        { do: 'reach', cluster: 'test-1' },
        { do: 'wait', seconds: 1 },
      ],
    },
  ],
];

describe('a scenario that the model test found', () => {
  it.each(SCENARIOS)('%s', (_, scenario) => {
    expect(runScenario(scenario)).toBe('ok');
  });
});
