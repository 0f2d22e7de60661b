import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UnitDefinition } from '../../../../src/agent/host/port.ts';
import { sandboxFolders, UNIT_DIRECTORY } from '../../../../src/agent/host/sandbox/folders.ts';
import { createSandboxHost, type SandboxHost } from '../../../../src/agent/host/sandbox/host.ts';
import { sendSignal, unitPids } from '../../../../src/agent/host/sandbox/unit-process.ts';
import type { UnitState } from '../../../../src/agent/host/sandbox/unit-state.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { endSandbox, openSandbox } from '../../../support/agent/sandbox.ts';
import { agentUnit } from '../../../support/agent/targets.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp.ts';

const SHELL = '/bin/sh';
let directory: string;
let host: SandboxHost;

beforeEach(async () => {
  directory = tempFolder('sandbox');
  host = await openSandbox(directory);
});

afterEach(async () => {
  await host.close();
  await endSandbox(directory);
});

function unit(script: string, fields: Partial<UnitDefinition> = {}): UnitDefinition {
  return agentUnit('work', {
    exec: { argv: [SHELL, '-c', script], env: {}, user: 'root' },
    restart: { policy: 'Always', delaySeconds: 0, maxPerMinute: 10 },
    ...fields,
  });
}

/** A unit whose program is a script. */
function scriptUnit(): UnitDefinition {
  writeFileSync(join(directory, 'run'), '#!/bin/sh\nsleep 600\n', { mode: 0o755 });
  return agentUnit('work', { exec: { argv: [join(directory, 'run')], env: {}, user: 'root' } });
}

async function start(definition: UnitDefinition): Promise<void> {
  await host.units.write(definition);
  await host.units.start('work');
}

function pids(): Promise<readonly number[]> {
  return unitPids(sandboxFolders(directory), 'work');
}

async function active(definition: UnitDefinition, expected: string): Promise<void> {
  await eventually(
    async () => (await host.units.status(definition))?.active === expected || undefined,
    `the unit did not become ${expected}`,
    10_000,
  );
}

describe('a unit of a sandbox', () => {
  it('ends with everything that it started, also in sessions of their own', async () => {
    const definition = unit('setsid sleep 600 & sleep 600 & wait');
    await start(definition);
    await eventually(async () => (await pids()).length === 3 || undefined, 'not started');
    await host.units.stop('work');
    expect(await pids()).toEqual([]);
  });

  it('is killed when it ignores the signal', async () => {
    const definition = unit('trap "" TERM; while :; do sleep 1; done', {
      stop: { signal: 'TERM', timeoutSeconds: 1 },
    });
    await start(definition);
    await host.units.stop('work');
    expect(await pids()).toEqual([]);
  });

  it('fails after more restarts a minute than it may have', async () => {
    const definition = unit('exit 3', { restart: { policy: 'Always', delaySeconds: 0, maxPerMinute: 2 } });
    await start(definition);
    await active(definition, 'Failed');
    expect(await host.units.status(definition)).toMatchObject({ restarts: 2, result: 'exit code 3' });
  });

  it('prints into a log, of which the end is read without secrets', async () => {
    const definition = unit('echo first; echo "password: hunter2hunter2"; sleep 600');
    await start(definition);
    const tail = await eventually(async () => {
      const text = await host.units.logTail('work', 18);
      return text.includes('***') ? text : undefined;
    }, 'nothing printed');
    expect(tail).not.toContain('hunter2');
    expect(tail).not.toContain('first');
  });

  it('has the digest of its script as its program', async () => {
    const definition = scriptUnit();
    await start(definition);
    const expected = await host.files.digest('/run');
    writeFileSync(join(directory, 'run'), '#!/bin/sh\nsleep 601\n');
    expect((await host.units.status(definition))?.process?.programDigest).toBe(expected);
  });

  it('receives its reload signal', async () => {
    const file = join(directory, 'reloaded');
    const definition = unit(`trap 'echo yes > ${file}' USR1; echo ready; while :; do sleep 0.1; done`, {
      reload: { signal: 'USR1' },
    });
    await start(definition);
    await eventually(
      async () => (await host.units.logTail('work', 100)).includes('ready') || undefined,
      'not ready',
    );
    await host.units.reload('work');
    const content = await eventually(async () => await host.files.read('/reloaded'), 'not reloaded');
    expect(content.length).toBeGreaterThan(0);
  });

  it('cannot use what only systemd has', async () => {
    await expect(host.units.write(unit('true', { raw: '[Service]' }))).rejects.toMatchObject({
      code: 'NotSupported',
    });
  });

  it('AGT-12 is started again by the next agent when it ended while none ran', async () => {
    const definition = unit('sleep 600');
    await start(definition);
    await host.close();
    sendSignal(await pids(), 'SIGKILL');
    host = await openSandbox(directory);
    // The signal may take effect only after the next agent observed the process.
    const status = await eventually(
      async () => {
        const found = await host.units.status(definition);
        return found?.active === 'Active' && found.restarts > 0 ? found : undefined;
      },
      'not started again',
      10_000,
    );
    expect(status.restarts).toBe(1);
  });

  it('AGT-12 is started by the next agent, and not as a restart, when the last one was killed before it started the process', async () => {
    const definition = unit('exec sleep 600');
    await host.units.write(definition);
    await host.close();
    const state = { intent: 'Running', restarts: 0 };
    const stateFile = sandboxFolders(directory).stateFile('work');
    mkdirSync(dirname(stateFile), { recursive: true });
    writeFileSync(stateFile, JSON.stringify(state));
    host = await openSandbox(directory);
    await active(definition, 'Active');
    expect(await pids()).toHaveLength(1);
    expect(await host.units.status(definition)).toMatchObject({ restarts: 0 });
  });

  it('AGT-12 is found by the next agent, with its script, when the last one was killed before it noted the process', async () => {
    const definition = scriptUnit();
    await start(definition);
    const before = (await host.units.status(definition))?.process;
    await host.close();
    const stateFile = sandboxFolders(directory).stateFile('work');
    const { process: _main, ...state } = JSON.parse(readFileSync(stateFile, 'utf8')) as UnitState;
    writeFileSync(stateFile, JSON.stringify(state));
    host = await openSandbox(directory);
    const { pid, programDigest } = (await host.units.status(definition))?.process ?? {};
    // Another digest would be another program, and the agent would restart the unit.
    expect([pid, programDigest]).toEqual([before?.pid, before?.programDigest]);
  });
});

describe('a damaged sandbox', () => {
  it('opens with a definition that is not JSON, and supervises the unit again once it is written', async () => {
    const definition = unit('sleep 600');
    await start(definition);
    await host.close();
    writeFileSync(join(directory, 'etc/kubenode/units/work.json'), 'theirs');
    host = await openSandbox(directory);
    expect(await host.units.status(definition)).toMatchObject({ defined: false, active: 'Active' });
    await host.units.write(definition);
    sendSignal(await pids(), 'SIGKILL');
    await eventually(
      async () => (await host.units.status(definition))?.restarts === 1 || undefined,
      'not restarted',
    );
    await active(definition, 'Active');
  });

  it('restarts a unit that ended while its state could not be written', async () => {
    const definition = unit('exec sleep 600');
    await start(definition);
    const states = join(directory, '.sandbox/units');
    renameSync(states, `${states}-away`);
    writeFileSync(states, 'in the place of the directory');
    sendSignal(await pids(), 'SIGKILL');
    await eventually(async () => (await pids()).length === 0 || undefined, 'not ended');
    rmSync(states);
    renameSync(`${states}-away`, states);
    await active(definition, 'Active');
    expect(await pids()).toHaveLength(1);
  });
});

describe('a hook of a sandbox', () => {
  it('is active after it succeeded, until it is stopped', async () => {
    const hook = unit('echo done', { type: 'OneShot' });
    await start(hook);
    expect((await host.units.status(hook))?.active).toBe('Active');
    await host.units.stop('work');
    expect((await host.units.status(hook))?.active).toBe('Inactive');
  });

  it('fails with its exit code', async () => {
    const hook = unit('exit 7', { type: 'OneShot' });
    await expect(start(hook)).rejects.toMatchObject({
      code: 'UnitFailed',
      message: 'unit work failed: exit code 7',
    });
    expect((await host.units.status(hook))?.active).toBe('Failed');
  });

  it('is ended at its time limit', async () => {
    const hook = unit('sleep 600', { type: 'OneShot', timeoutSeconds: 1 });
    await expect(start(hook)).rejects.toMatchObject({ message: 'unit work failed: no end within 1 s' });
    expect(await pids()).toEqual([]);
  });

  it('gives its exit code to the next agent', async () => {
    const hook = unit(`while ! [ -e ${directory}/go ]; do sleep 0.05; done; exit 7`, { type: 'OneShot' });
    await host.units.write(hook);
    const first = host;
    const started = first.units.start('work').catch(() => undefined);
    await active(hook, 'Activating');
    await first.close();
    host = await openSandbox(directory);
    writeFileSync(join(directory, 'go'), '');
    await active(hook, 'Failed');
    expect((await host.units.status(hook))?.result).toBe('exit code 7');
    await started;
  });
});

describe('probes of a sandbox', () => {
  const probe = {
    name: 'web',
    periodSeconds: 5,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 3,
  };

  it('use the port that the sandbox assigned, and fail on a bad answer', async () => {
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/good' ? 200 : 500).end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const ports = new Map([['web', (server.address() as AddressInfo).port]]);
    const http = (path: string) => ({ ...probe, http: { port: 'web', path, scheme: 'HTTP' as const } });
    expect(await host.network.probe(http('/good'), ports)).toEqual({ passed: true, detail: 'answered 200' });
    expect(await host.network.probe(http('/bad'), ports)).toEqual({ passed: false, detail: 'answered 500' });
    expect(await host.network.probe({ ...probe, tcp: { port: 'web' } }, ports)).toMatchObject({
      passed: true,
    });
    await new Promise((resolve) => {
      server.close(resolve);
    });
    expect(await host.network.probe({ ...probe, tcp: { port: 'web' } }, ports)).toEqual({
      passed: false,
      detail: 'ECONNREFUSED',
    });
  });
});

describe('a program that the agent runs', () => {
  it('is ended with its children at the time limit', async () => {
    const result = await host.processes.run([SHELL, '-c', 'sleep 600 & sleep 600'], {
      timeoutMs: 200,
      maxOutputBytes: 100,
    });
    expect(result).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
  });

  it('AGT-53 gives no more output than the limit', async () => {
    const result = await host.processes.run([SHELL, '-c', 'yes | head -c 100000; exit 4'], {
      timeoutMs: 5000,
      maxOutputBytes: 10,
    });
    expect(result).toEqual({ exitCode: 4, timedOut: false, output: 'y\ny\ny\ny\ny\n', truncated: true });
  });

  it('reports a program that does not exist', async () => {
    expect(await host.processes.run(['/none'], { timeoutMs: 1000, maxOutputBytes: 100 })).toMatchObject({
      exitCode: 127,
      output: 'spawn /none ENOENT',
    });
  });
});

it.each<[string, (file: string) => void]>([
  ['edits', (file) => writeFileSync(`${file}.json`, '{}')],
  ['enables', (file) => writeFileSync(`${file}.enabled`, '')],
  ['masks', (file) => writeFileSync(`${file}.masked`, '')],
  ['removes', (file) => rmSync(`${file}.json`)],
])('AGT-31 reports at once when a person %s a unit by its files', async (_, change) => {
  const folder = tempFolder('sandbox');
  const unitFile = join(folder, UNIT_DIRECTORY, 'work');
  mkdirSync(dirname(unitFile), { recursive: true });
  writeFileSync(`${unitFile}.json`, JSON.stringify(agentUnit('work')));
  const { promise: reported, resolve: onUnitChange } = Promise.withResolvers<string>();
  const watched = createSandboxHost({ directory: folder, clock: createSystemClock(), onUnitChange });
  await watched.open();
  try {
    change(unitFile);
    expect(await reported).toBe(UNIT_DIRECTORY);
  } finally {
    await watched.close();
  }
});
