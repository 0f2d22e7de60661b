import { describe, expect, it } from 'vitest';
import { loadDetectorConfig } from '../../../../src/agent/detector/config/load.ts';
import { configFile, kernelMonitor, pluginMonitor } from '../../../support/agent/detector-config.ts';

const kernel = configFile('kernel.json', kernelMonitor);
const ntp = configFile('ntp.json', pluginMonitor);

describe('load', () => {
  it('reads files of log monitors and plug-ins', () => {
    const { monitors, problems } = loadDetectorConfig([kernel, ntp]);
    expect(monitors.map(({ file, kind }) => [file, kind])).toEqual([
      ['kernel.json', 'Log'],
      ['ntp.json', 'Plugin'],
    ]);
    expect(problems).toEqual([]);
  });

  it('uses the other files when one has a problem', () => {
    const { monitors, problems } = loadDetectorConfig([{ name: 'bad.json', content: '{' }, kernel]);
    expect(monitors.map(({ file }) => file)).toEqual(['kernel.json']);
    expect(problems).toEqual([expect.stringMatching(/^bad\.json: not JSON: /)]);
  });

  it('adds our file to the monitor with its source', () => {
    const rules = [{ reason: 'DockerHung', count: 2, windowSeconds: 60 }];
    const ours = configFile('kernel.kubenode.json', { source: 'kernel-monitor', rules });
    const { monitors, problems } = loadDetectorConfig([ours, kernel]);
    expect(problems).toEqual([]);
    expect(JSON.stringify(monitors)).toContain('"window":{"count":2,"windowMs":60000}');
  });

  it.each([
    [configFile('b.json', kernelMonitor), 'b.json: source: kernel-monitor is the source of kernel.json, too'],
    [
      configFile('b.json', { ...kernelMonitor, source: 'b' }),
      'b.json: conditions: KernelDeadlock is a condition of kernel.json, too',
    ],
    [
      configFile('b.kubenode.json', { source: 'other' }),
      'b.kubenode.json: source: no file that is in use has the source other',
    ],
    [{ name: 'b.json', content: '[]' }, 'b.json: expected an object, got []'],
  ])('refuses what does not fit: %j', (file, problem) => {
    expect(loadDetectorConfig([kernel, file])).toMatchObject({
      monitors: [{ file: 'kernel.json' }],
      problems: [problem],
    });
  });
});
