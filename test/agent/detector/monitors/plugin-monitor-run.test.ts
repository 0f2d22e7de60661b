import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readPluginMonitor } from '../../../../src/agent/detector/config/plugin-monitor.ts';
import { createPluginMonitor } from '../../../../src/agent/detector/monitors/plugin-monitor-run.ts';
import type { ProblemMonitor } from '../../../../src/agent/detector/monitors/problem-monitor.ts';
import { createSandboxHost, type SandboxHost } from '../../../../src/agent/host/sandbox/host.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { pluginMonitor } from '../../../support/agent/detector-config.ts';
import { eventually } from '../../../support/eventually.ts';
import { tempFolder } from '../../../support/temp.ts';

const rule = (pluginMonitor['rules'] as readonly object[])[0];
const clock = createSystemClock();
let directory: string;
let host: SandboxHost;

beforeEach(() => {
  directory = tempFolder('plugin');
  host = createSandboxHost({ directory, clock });
});

describe('plug-in monitor', () => {
  it.each([
    ['echo all is well; exit 0', 'False NTPIsUp ntp service is up'],
    ['echo down; echo noise >&2; exit 1', 'True NTPIsDown down'],
    ['echo not known; exit 2', 'Unknown NTPIsUp not known'],
    ['kill -9 $$', 'Unknown NTPIsUp '],
    [
      'sleep 600',
      'Unknown NTPIsUp Timeout when running plugin "/opt/check-ntp": state - signal: killed. output - "',
    ],
    ["head -c 100000 /dev/zero | tr '\\0' x; exit 1", `True NTPIsDown ${'x'.repeat(80)}`],
  ])('AGT-71 runs a program and takes its exit code: %s', async (script, expected) => {
    install(script);
    expect(await becomes(start({ timeout: '500ms' }), expected)).toBe(true);
  });

  it('reports unknown for a program that is missing, and finds it later', async () => {
    const monitor = start({ invoke_interval: '100ms' });
    expect(await becomes(monitor, 'Unknown NTPIsUp /opt/check-ntp could not be started: no such file')).toBe(
      true,
    );
    install('echo down; exit 1');
    expect(await becomes(monitor, 'True NTPIsDown down')).toBe(true);
  });

  it('reports unknown for a program that may not be run', async () => {
    install('echo down; exit 1', 0o644);
    expect(await becomes(start({}), /^Unknown NTPIsUp spawn /)).toBe(true);
  });

  it('reports nothing of a plug-in that the stop of the agent ended', async () => {
    const config = readPluginMonitor({ ...pluginMonitor, rules: [rule] }, 'ntp.json');
    const begun = Promise.withResolvers<undefined>();
    const ended = Promise.withResolvers<undefined>();
    const run: SandboxHost['processes']['run'] = async () => {
      begun.resolve(undefined);
      await ended.promise;
      return { signal: 'unknown', timedOut: false, output: '', truncated: false };
    };
    install('exit 0');
    const stopping = { ...host, processes: { ...host.processes, run } };
    const monitor = createPluginMonitor({ config, host: stopping, clock, onChange: () => undefined });
    const before = monitor.conditions();
    const abort = new AbortController();
    const running = monitor.run(abort.signal);
    await begun.promise;
    abort.abort();
    ended.resolve(undefined);
    await running;
    expect(monitor.conditions()).toEqual(before);
  });

  it('asks for the rights of the host, or for those that the file declares', async () => {
    const asked: unknown[] = [];
    const run: SandboxHost['processes']['run'] = async (_, limits) => {
      asked.push(limits.rights);
      return { exitCode: 1, timedOut: false, output: 'down', truncated: false };
    };
    install('exit 0');
    host = { ...host, processes: { ...host.processes, run } };
    await becomes(start({}), 'True NTPIsDown down');
    await becomes(start({}, { rights: { user: 'daemon' } }), 'True NTPIsDown down');
    expect(asked).toEqual([{}, { user: 'daemon', capabilities: [] }]);
  });

  it('AGT-71 never runs a rule beside itself', async () => {
    install(`test -e ${directory}/running && echo twice >> ${directory}/log
touch ${directory}/running; sleep 0.1; rm ${directory}/running; echo once >> ${directory}/log`);
    start({ invoke_interval: '1ms' });
    const log = await eventually(async () => {
      const text = new TextDecoder().decode(await host.files.read('/log'));
      return text.split('\n').length > 5 ? text : undefined;
    }, 'the plug-in did not run five times');
    expect(log).not.toContain('twice');
  });
});

function install(script: string, mode = 0o755): void {
  const path = `${directory}/opt/check-ntp`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, mode);
}

function start(fields: object, ofFile: object = {}): ProblemMonitor {
  const config = readPluginMonitor(
    { ...pluginMonitor, ...ofFile, rules: [{ ...rule, ...fields }] },
    'ntp.json',
  );
  const monitor = createPluginMonitor({ config, host, clock, onChange: () => undefined });
  const abort = new AbortController();
  const running = monitor.run(abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
  });
  return monitor;
}

async function becomes(monitor: ProblemMonitor, expected: string | RegExp): Promise<true> {
  return await eventually(
    async () => {
      const [found] = monitor.conditions();
      const text = found && `${found.status} ${found.reason} ${found.message}`;
      const isFound = typeof expected === 'string' ? text === expected : expected.test(text ?? '');
      return isFound ? true : undefined;
    },
    `the condition did not become ${expected}`,
    15_000,
  );
}
