import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { allViews, createControllerGroups, MANAGERS } from '../../src/controllers/controllers.ts';
import type { ControllerGroup } from '../../src/controllers/group.ts';
import { createDefender } from '../../src/defender/defender.ts';
import { createCallWindow } from '../../src/defender/facts/call-window.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';
import type { Views } from '../../src/kube/controller/views.ts';
import { createMetrics } from '../../src/kube/process/metrics.ts';
import { createEventAnswers } from '../../src/providers/event-answers.ts';
import { createPowerSwitches } from '../../src/providers/power/switches.ts';
import { createCheckRunner } from '../../src/rollout/checks/runner.ts';
import { memoryLog } from '../support/memory-log.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { WORKERS } from './following/nodegroup/nodes.ts';

/** No controller asks a server before it runs. */
const CLIENT = { server: 'none' } as Client;

async function noBootstrap(): Promise<never> {
  throw new Error('no instance is created here');
}

let groups: readonly ControllerGroup[];
let controllers: readonly Controller[];
let views: Views;

beforeAll(async () => {
  const clock = virtualClock();
  const shared = { clock, log: memoryLog(), random: () => 0.5, leads: () => true, metrics: createMetrics() };
  const common = { ...shared, watch: { restarted: () => undefined } };
  const calls = createCallWindow(clock);
  const defender = createDefender({ ...common, client: CLIENT, calls, managers: MANAGERS });
  const parts = {
    ...common,
    skewSeconds: () => 0,
    connectAs: async () => CLIENT,
    connectTo: async () => CLIENT,
    openInstances: async () => ({ providers: {}, clusterUid: 'c-1', createBootstrap: noBootstrap }),
    openImports: async () => undefined,
    power: createPowerSwitches({ providers: () => ({}), secrets: CLIENT }),
    grants: defender.ledger,
    prometheus: { query: async () => ({ problem: 'no Prometheus' }) },
    checkRunner: createCheckRunner({ clock, get: () => Promise.reject(new Error('no check runs here')) }),
    eventAnswers: createEventAnswers(() => ({})),
    clusterApi: true,
    externalNodes: true,
    nodeGroups: WORKERS,
    notifications: {
      selections: [],
      receivers: { send: () => Promise.reject(new Error('nothing is sent here')) },
    },
    traces: { export: () => Promise.reject(new Error('nothing is exported here')) },
  };
  groups = await createControllerGroups(parts, defender.views);
  controllers = groups.flatMap((group) => group.controllers);
  views = allViews([...groups, defender]);
});

const FOLLOWING = ['clusterapi', 'disruption', 'external', 'nodegroup', 'remediation'];

describe('the list of controllers', () => {
  it('has each folder of src/controllers, of which one follows several owners, but for hosting, which runs on the hub in a process of its own', () => {
    const entries = readdirSync('src/controllers', { withFileTypes: true });
    const folders = entries.filter((each) => each.isDirectory()).map(({ name }) => name);
    const expected = folders.flatMap((name) => (name === 'following' ? FOLLOWING : [name])).toSorted();
    expect([...controllers.map(({ name }) => name), 'hosting'].toSorted()).toEqual(expected);
  });

  it('gives each controller a view of every kind that it reads', () => {
    const missing = controllers.flatMap(({ name, reads }) =>
      reads
        .filter(({ resource }) => views[resource.kind] === undefined)
        .map(({ resource }) => `${name}: ${resource.kind}`),
    );
    expect(missing).toEqual([]);
  });

  it('has one view of a kind, so that two groups never disagree about an object', () => {
    const kinds = groups.flatMap((group) => Object.keys(group.views));
    expect(kinds.filter((kind, index) => kinds.indexOf(kind) !== index)).toEqual([]);
  });
});
