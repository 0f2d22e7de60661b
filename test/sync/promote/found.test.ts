/** What the model test has found, each with a name. The scenarios are as it shrank them. */
import { describe, expect, it } from 'vitest';
import { execute, type Scenario, type ScenarioStage } from './model/run-scenario.ts';
import { MINUTE, PromotionSimulation, SECOND } from './simulation/simulation.ts';

const QUICK: ScenarioStage = {
  maxConcurrent: 1,
  maxFailed: 0,
  soakSeconds: 0,
  graceSeconds: 60,
  maxSkipped: 0,
};
const SLOW: ScenarioStage = { ...QUICK, soakSeconds: 50 };

const FOUND: readonly (readonly [why: string, scenario: Scenario])[] = [
  [
    'S23 whom a restored hub finds in the middle of its work has a place when its stage comes to that',
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
    'S31 what was promised in one stage does not begin in another that is on nothing yet',
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
    'S23 a restored hub remembers the failures of its backup, which take nobody a place (the reference forgot them)',
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
    'S39 a clock set back in an outage: two minutes go by the recorded observations (the reference knew the real time)',
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
    'S34 a stage that lost all its clusters comes to the next commit with the first that returns (the reference saw it later)',
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
    'S34 what a guest began in another stage does not keep this one from moving on (the reference counted it here)',
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
    'S39 a hub that comes back from a backup goes on with the soak that it had, and forgets the failure since (the reference did not)',
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
    "S23 whom a restored hub finds ahead of its stage ends its work in nobody's place (the reference gave it one)",
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

describe('what the model test has found', () => {
  it.each(FOUND)('%s', (_, scenario) => {
    expect(execute(scenario)).toBe('kept');
  });
});

describe('S38 never takes a cluster back that moves to a stage behind it', () => {
  const TWO_STAGES = [{ name: 'test', soakSeconds: 0 }, { name: 'prod' }];

  it('gets nothing of what it was only promised before', () => {
    const sim = new PromotionSimulation({ stages: TWO_STAGES, clusters: ['test-1', 'test-2', 'prod-1'] });
    sim.cluster('test-1').trouble = 'Held';
    sim.push('c1', { '*': { app: 'v1' } });
    sim.settle();
    expect(sim.cluster('test-1').target).toMatchObject({ mode: 'Apply', commit: 'c1' });
    sim.cluster('test-1').environment = 'prod';
    sim.settle();
    sim.cluster('test-1').trouble = 'None';
    sim.settle();
    expect(sim.cluster('test-1').target?.mode).toBe('Observe');
    expect(sim.writes.map(({ cluster }) => cluster)).not.toContain('test-1');
  });

  it('ends what it had begun, whatever a commit that changes nothing calls it', () => {
    const sim = new PromotionSimulation({ stages: TWO_STAGES, clusters: ['test-1', 'test-2', 'prod-1'] });
    sim.cluster('test-2').paused = true;
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(MINUTE);
    sim.push('c2', { '*': { app: 'v2' } });
    sim.run(MINUTE);
    sim.cluster('test-2').paused = false;
    sim.run(5 * SECOND);
    sim.push('c3', { '*': { app: 'v2' } });
    sim.settle();
    expect(sim.cluster('test-2').status?.sync).toMatchObject({ commit: 'c3', state: 'Applying' });
    sim.cluster('test-2').environment = 'prod';
    sim.run(10 * SECOND);
    expect(sim.cluster('test-2').status?.sync?.state).toBe('Ahead');
    expect(sim.cluster('test-2').applied?.digest).toBe('app=v2');
  });
});

describe('S23 keeps the order inside a stage when the hub is restored from a backup', () => {
  it('begins nobody while one that it finds is still being written', () => {
    const stages = [{ name: 'test', soakSeconds: 0 }, { name: 'prod' }];
    const sim = new PromotionSimulation({ stages, clusters: ['test-1', 'prod-1', 'prod-2'] });
    sim.push('c1', { '*': { app: 'v1' } });
    sim.settle();
    const backup = { releases: [...sim.releases], test: sim.cluster('test-1').status };
    sim.run(6 * MINUTE);
    expect(sim.cluster('prod-2').status?.sync?.state).toBe('Applying');
    sim.push('c2', { '*': { app: 'v1' }, 'prod-1': { app: 'v2' } });
    sim.settle();

    sim.releases.clear();
    for (const [name, release] of backup.releases) sim.releases.set(name, release);
    const { status: _lost, ...pipeline } = sim.pipeline;
    sim.pipeline = pipeline;
    for (const name of ['prod-1', 'prod-2']) sim.cluster(name).status = undefined;
    sim.cluster('test-1').status = backup.test;
    // The stage has nothing until test-1 is proven again; prod-2 goes on meanwhile.
    sim.cluster('test-1').paused = true;
    sim.restart();
    sim.settle();
    expect(sim.cluster('prod-2')).toMatchObject({ target: { mode: 'Apply', commit: 'c1' } });
    sim.cluster('test-1').paused = false;
    sim.settle();
    expect(sim.cluster('prod-1').target).toMatchObject({ mode: 'Observe', digest: 'app=v1' });
    sim.run(20 * MINUTE);
    expect(sim.cluster('prod-1').applied?.digest).toBe('app=v2');
  });
});
