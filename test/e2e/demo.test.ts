/** `kubenode start --demo` by a user without root: one command to a fleet with machines, its tour, and nothing left at the end. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  CLUSTERS,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../src/api/generated/resources.ts';
import type {
  Cluster,
  Machine,
  MachineComponentSet,
  RemedyOperationJob,
} from '../../src/api/generated/types.ts';
import type { ConsoleState } from '../../src/console/state/state.ts';
import type { TourStepResult } from '../../src/demo/tour/runner.ts';
import { TOUR_STEPS } from '../../src/demo/tour/steps.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { conditionOf } from '../../src/kube/objects/conditions.ts';
import { stateFolder } from '../../src/local/folders.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { openEvents } from '../console/server/event-reader.ts';
import { launchBrowser, noBrowserReason } from '../support/browser.ts';
import { packedTarball } from '../support/packed.ts';
import { createPerson, type Person } from '../support/page/person.ts';
import { type PageRecorder, recordPages } from '../support/page/recorder.ts';
import { type EndedStep, notShown } from '../support/page/shown-steps.ts';
import { hasPrometheus, type PrometheusSeries } from '../support/prometheus.ts';
import type { Rootless } from '../support/rootless.ts';
import { SEED } from '../support/sweep-size.ts';

/** What a step leaves in the history of the set of test, newest first: git revert brings the revision before it to the front again. */
const HISTORY_AFTER: Readonly<Record<string, (before: readonly string[]) => readonly string[]>> = {
  rollout: (before) => ['Completed', ...before],
  'bad-version': ([newest = '', ...older]) => [newest, 'RolledBack', ...older],
  'fleet-limits': ([newest = '', ...older]) => [newest, 'RolledBack', ...older],
  crash: (before) => ['Completed', ...before],
  'hosted-cluster': (before) => ['Completed', ...before],
};

/** Each step begins with a healthy fleet, and needs no other one. */
function shuffledSteps(): fc.Arbitrary<readonly string[]> {
  return fc.shuffledSubarray(
    TOUR_STEPS.map(({ name }) => name),
    { minLength: TOUR_STEPS.length },
  );
}

describe('kubenode start --demo', { shuffle: false }, () => {
  const clock = createSystemClock();
  const [order = []] = fc.sample(shuffledSteps(), { seed: SEED, numRuns: 1 });
  let person: Person;
  let user: Rootless;
  let dir: string;
  let repository: string;
  let command: ChildProcess;
  let output = '';
  let browser: Browser | undefined;
  let recorder: PageRecorder | undefined;
  const endedSteps: EndedStep[] = [];
  const clients = new Map<string, Client>();

  beforeAll(async () => {
    person = createPerson('demo', inject('controlPlaneRun').binaries, await packedTarball());
    user = person.user;
    // As npm start does.
    [dir, repository] = [stateFolder({ HOME: user.home }), join(user.parent, 'kubenode-demo')];
    const metrics = hasPrometheus ? ['--metrics'] : [];
    const args = [user.main, 'start', '--demo', repository, ...metrics];
    command = user.start(process.execPath, args, ['ignore', 'pipe', 'pipe']);
    for (const stream of [command.stdout, command.stderr]) {
      stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    }
  });

  afterAll(async () => {
    await browser?.close();
    command.kill('SIGKILL');
    for (const client of clients.values()) await client.close();
    await person.leave();
  });

  // What a machine or a stage waits for is in the output of the command, and in no assertion.
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`${output.slice(-6000)}\n`);
  });

  it('brings the first commit to every stage, and ten machines to Ready', async () => {
    await expect.poll(() => statesOf('Proven')).toEqual(['pre', 'prod', 'test']);
    for (const [cluster, machines] of Object.entries({ test: 2, pre: 2, prod: 6 })) {
      const ready = (await machinesOf(cluster)).filter(
        ({ status }) => conditionOf(status?.conditions, 'Ready')?.status === 'True',
      );
      expect(ready).toHaveLength(machines);
    }
    expect(output).toContain('A hub and three clusters are running');
    await expect.poll(() => output).toMatch(/converged: 10 machines Ready at [\da-f]{12} in \d+ s/);
    const address = /The fleet in a browser: (?<url>http:\S+)/.exec(output)?.groups?.['url'] ?? '';
    await expect.poll(() => machinesOnPage(address)).toBe(10);
    if (noBrowserReason !== undefined) return;
    browser = await launchBrowser();
    recorder = await recordPages(browser, address);
  });

  it.skipIf(!hasPrometheus)('DAT-08 has a Prometheus that scrapes each process of the fleet', async () => {
    const url = /Prometheus, which scrapes it: (?<url>http:\S+)/.exec(output)?.groups?.['url'] ?? '';
    const up = async (): Promise<unknown> => {
      const answer = await fetch(`${url}api/v1/query?query=${encodeURIComponent('sum by (job) (up)')}`);
      const { data } = (await answer.json()) as { data: { result: readonly PrometheusSeries[] } };
      return Object.fromEntries(data.result.map(({ metric, value }) => [metric['job'], value[1]]));
    };
    await expect.poll(up).toEqual({ agent: '10', controllers: '3', hosting: '1', sync: '1' });
  });

  // Each step verifies on the API servers what it names: docs/guides/demo.md. Its limits are for a machine that runs nothing else.
  it(`verifies the steps of the tour in the order ${order.join(', ')}`, async () => {
    const exitCode = await runTour();
    const results = endedSteps.map(({ result }) => result);
    // In the message of a failure, which is longer than those of expect.
    const failed = results.filter(({ state }) => state !== 'Verified');
    if (failed.length > 0) throw new Error(failed.map((each) => JSON.stringify(each)).join('\n'));
    expect(results.map(({ name }) => name)).toEqual(order);
    expect(exitCode).toBe(0);
  });

  it.skipIf(noBrowserReason !== undefined)(
    'CON-07 shows each step of the tour on the pages of a console that is open meanwhile',
    async () => {
      if (!recorder) throw new Error('no page was opened');
      const missing = await notShown(recorder, endedSteps);
      expect(missing).toEqual([]);
      expect(recorder.problems()).toEqual([]);
    },
  );

  it('has after the tour what its steps left: a new version, a rollback, a repair and reverts', async () => {
    const [oldest, ...later] = git('log', '--format=%s', '--reverse').split('\n');
    expect(oldest).toBe('The fleet');
    expect(later.filter((subject) => subject.startsWith('Revert '))).toHaveLength(12);
    const head = git('rev-parse', 'HEAD');
    // The step bad-rule ends with a commit, too.
    await expect.poll(() => provenAt(head)).toEqual(['pre', 'prod', 'test']);
    const version = later.findLast((subject) => subject.startsWith('web 1.'))?.replace('web ', '');
    for (const cluster of ['test', 'pre', 'prod']) {
      expect(new Set(await webVersions(cluster))).toEqual(new Set([`web-${version}`]));
    }
    const results = async (cluster: string): Promise<readonly unknown[]> => {
      const { status } = await (await clientOf(cluster)).get<MachineComponentSet>(
        MACHINE_COMPONENT_SETS,
        SET,
      );
      return (status?.history ?? []).map(({ result }) => result);
    };
    const first: readonly string[] = ['Completed'];
    const left = order.reduce((history, name) => HISTORY_AFTER[name]?.(history) ?? history, first);
    expect(await results('test')).toEqual(left);
    expect(await results('prod')).toEqual(['Completed', 'Completed', 'Completed', 'Completed']);
    const jobs = await jobOutcomes(await clientOf('test'));
    expect(jobs).toEqual([expect.stringMatching(/^general-\w+ reboot Succeeded$/)]);
  });

  it('leaves no process after Ctrl-C', async () => {
    const ended = new Promise((resolve) => command.once('exit', resolve));
    command.kill('SIGINT');
    await ended;
    expect(processesOf(dir)).toEqual([]);
  });

  const SET = { name: 'general' };

  async function clientOf(context: string): Promise<Client> {
    const known = clients.get(context);
    if (known) return known;
    const client = await connect({ clock, kubeconfig: join(dir, 'kubeconfig'), context });
    clients.set(context, client);
    return client;
  }

  /** None while the hub comes up. */
  async function clusters(): Promise<readonly Cluster[]> {
    if (!existsSync(join(dir, 'kubeconfig'))) return [];
    const hub = await clientOf('hub').catch(() => undefined);
    const page = await hub?.list<Cluster>(CLUSTERS).catch(() => undefined);
    return page?.items ?? [];
  }

  async function statesOf(state: string): Promise<readonly string[]> {
    const found = (await clusters()).filter(({ status }) => status?.sync?.state === state);
    return found.map(({ metadata }) => metadata.name).toSorted();
  }

  async function provenAt(head: string): Promise<readonly string[]> {
    const found = (await clusters()).filter(
      ({ status }) => status?.sync?.state === 'Proven' && status.sync.commit === head,
    );
    return found.map(({ metadata }) => metadata.name).toSorted();
  }

  async function machinesOf(cluster: string): Promise<readonly Machine[]> {
    return (await (await clientOf(cluster)).list<Machine>(MACHINES)).items;
  }

  async function webVersions(cluster: string): Promise<readonly (string | undefined)[]> {
    return (await machinesOf(cluster)).map(
      ({ status }) => status?.components?.find(({ name }) => name === 'web')?.currentRef,
    );
  }

  /** As a person runs it, beside the fleet. Resolves to its exit code. */
  async function runTour(): Promise<number | null> {
    const steps = order.flatMap((name) => ['--step', name]);
    const args = [user.main, 'tour', '--yes', '--patience', '5', '-o', 'json', ...steps];
    const tour = user.start(process.execPath, args, ['ignore', 'pipe', 'inherit']);
    const closed = new Promise<number | null>((resolve) => tour.once('close', resolve));
    for await (const line of createInterface(tour.stdout ?? Readable.from([]))) {
      endedSteps.push({ result: JSON.parse(line) as TourStepResult, atMs: +clock.now() });
    }
    return await closed;
  }

  function git(...args: string[]): string {
    return user.run('git', ['-C', repository, ...args]);
  }
});

async function jobOutcomes(client: Client): Promise<readonly string[]> {
  const { items } = await client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
  return items.map(({ spec, status }) => `${spec.machine.name} ${spec.rung.name} ${status?.outcome?.class}`);
}

function processesOf(folder: string): readonly string[] {
  const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(folder));
}

/** How many machines the console shows to a page that is opened now. */
async function machinesOnPage(url: string): Promise<number> {
  const events = await openEvents(url).catch(() => undefined);
  const first = await events?.next();
  events?.close();
  return Object.keys((first?.data as Pick<ConsoleState, 'machines'> | undefined)?.machines ?? {}).length;
}
