/** `kubenode start` and an interrupted `local up`, with real processes. */
import { spawn } from 'node:child_process';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../../src/cli/run.ts';
import { repairLocalFleet } from '../../../src/local/fleet.ts';
import { findPrometheusUrl, stopPrometheus } from '../../../src/local/prometheus.ts';
import { RULE_GROUPS } from '../../../src/observability/prometheus/groups.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { localFleet, shellEnv } from '../../support/local-fleet.ts';
import { hasPrometheus } from '../../support/prometheus.ts';
import { tempFolder } from '../../support/temp.ts';

const LIGHT = ['--no-controllers', '--no-install'];

interface Running {
  readonly ended: Promise<number>;
  stop(): void;
  out(): string;
  err(): string;
}

const running: Running[] = [];
const fleet = localFleet(tempFolder('start'));

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.stop();
    await each.ended;
  }
});
afterAll(() => fleet.clear());

/** As in a terminal: `stop` is Ctrl-C, also as soon as stderr contains that text. */
function run(args: readonly string[], stopAt?: string): Running {
  const interrupted = new AbortController();
  let [out, err] = ['', ''];
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => {
      err += text;
      if (stopAt !== undefined && text.includes(stopAt)) interrupted.abort(new Error('stopped by SIGINT'));
    },
    env: shellEnv(),
    cwd: process.cwd(),
    clock: createSystemClock(),
    interactive: false,
    color: false,
    screen: () => undefined,
    signal: interrupted.signal,
  };
  const ended = runCommandLine(io, args);
  const started: Running = { ended, stop: () => interrupted.abort(), out: () => out, err: () => err };
  running.push(started);
  return started;
}

async function programs(): Promise<string[]> {
  const all = await fleet.processes();
  return all.map(({ command }) => command[0]?.split('/').at(-1) ?? '').toSorted();
}

async function pidOf(program: string): Promise<number | undefined> {
  const all = await fleet.processes();
  return all.find(({ command }) => command[0]?.endsWith(`/${program}`))?.pid;
}

describe('kubenode start', () => {
  it('FST-10 starts a killed API server again, and stops everything at Ctrl-C', async () => {
    const start = run(['start', '--dir', fleet.dir]);
    await expect.poll(() => start.out()).toContain('all processes are ready');
    const before = { server: await pidOf('kube-apiserver'), etcd: await pidOf('etcd') };
    process.kill(before.server ?? 0, 'SIGKILL');

    await expect.poll(() => start.err()).toContain('kube-apiserver of hub: not running, starting again');
    const readyAgain = /kube-apiserver is not running[^]*all processes are ready/;
    await expect.poll(() => start.out()).toMatch(readyAgain);
    expect(await pidOf('kube-apiserver')).not.toBe(before.server);
    expect(await pidOf('etcd')).toBe(before.etcd);

    start.stop();
    await start.ended;
    expect(await programs()).toEqual([]);
  });

  it('FST-10 leaves a fleet alone that was stopped on purpose', async () => {
    await fleet.ok('up', ...LIGHT);
    await fleet.ok('down');
    const options = { clock: createSystemClock(), onStep: () => undefined, warn: () => undefined };
    await repairLocalFleet({ dir: fleet.dir, env: process.env, ...options });
    expect(await programs()).toEqual([]);
  });
});

describe.skipIf(!hasPrometheus)('kubenode start --metrics', () => {
  it('DAT-08 scrapes what uses the fleet, with all rules, and starts a killed Prometheus again', async () => {
    const start = run(['start', '--metrics', '--dir', fleet.dir]);
    const printed = /Prometheus, which scrapes it: (?<url>http:\S+)/;
    await expect.poll(() => start.out()).toMatch(printed);
    const url = printed.exec(start.out())?.groups?.['url'] ?? '';
    await expect.poll(() => fleet.status()).toMatchObject({ prometheus: url });
    const { kubeconfig } = await fleet.status();
    const args = ['controllers', '--kubeconfig', kubeconfig, '--context', 'hub', '--port', '0'];
    const controllers = spawn(process.execPath, ['src/cli/main.ts', ...args], { stdio: 'ignore' });
    onTestFinished(() => void controllers.kill('SIGKILL'));
    const up = [expect.objectContaining({ job: 'controllers', cluster: 'hub', health: 'up' })];
    await expect.poll(() => targetsOf(url)).toEqual(up);
    expect(await askedOf(url, 'rules')).toMatchObject({ groups: { length: ruleGroups } });

    await stopPrometheus(fleet.dir, createSystemClock());
    await expect.poll(() => start.err()).toContain('prometheus ended with exit code 0: starts again in');
    await expect.poll(() => targetsOf(url)).toEqual(up);

    controllers.kill('SIGKILL');
    await expect.poll(() => targetsOf(url)).toEqual([]);
    start.stop();
    await start.ended;
    expect(await findPrometheusUrl(fleet.dir)).toBeUndefined();
  });

  const ruleGroups = Object.values(RULE_GROUPS).flat().length;
});

/** Undefined while Prometheus does not answer. */
async function askedOf(url: string, what: string): Promise<unknown> {
  const answer = await fetch(`${url}api/v1/${what}`).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as { data: unknown }).data : undefined;
}

async function targetsOf(url: string): Promise<unknown> {
  const found = (await askedOf(url, 'targets')) as { activeTargets: ActiveTarget[] } | undefined;
  return found?.activeTargets.map(({ labels, health }) => ({ ...labels, health }));
}

interface ActiveTarget {
  readonly labels: Readonly<Record<string, string>>;
  readonly health: string;
}

describe('kubenode local up', () => {
  it('FST-10 leaves at Ctrl-C exactly the processes that it names, and what to do', async () => {
    await fleet.clear();
    // Another test starts a fleet that is its own only if none of it runs.
    onTestFinished(() => fleet.clear());
    const up = run(['local', 'up', '--dir', fleet.dir, ...LIGHT], 'starting hub/kube-apiserver');
    expect(await up.ended).toBe(130);
    expect(up.err()).toMatch(
      /error: interrupted; still running: etcd\n {2}where: .*\n {2}hint: complete the start with: kubenode local up --dir .*; to stop them: kubenode local down --dir /,
    );
    expect(await programs()).toEqual(['etcd']);
  });
});

describe('kubenode status', () => {
  it('FST-10 names the command that starts the local fleet when it is down', async () => {
    await fleet.ok('up', ...LIGHT);
    await fleet.ok('down');
    const { kubeconfig } = await fleet.status();
    const status = run(['status', '--kubeconfig', kubeconfig]);
    expect(await status.ended).toBe(69);
    expect(status.err()).toContain(
      `hint: start the local cluster with: kubenode local up --dir ${fleet.dir}`,
    );
    const { stdout } = await fleet.run(['status']);
    expect(stdout).toContain('start it with: kubenode local up');
  });
});
