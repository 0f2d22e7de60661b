import { describe, expect, it } from 'vitest';
import { kernelMonitor as exampleMonitor } from '../../../../fleet/components/problem-detector-files.ts';
import { loadDetectorConfig } from '../../../../src/agent/detector/config/load.ts';
import {
  configFile,
  kernelMonitor,
  pluginMonitor,
  SHIPPED_SHAPES,
} from '../../../support/agent/detector-config.ts';
import { readPage } from '../../../support/page/page.ts';

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

  it('reads the file of docs/guides/problem-detector.md beside the log monitor of the example fleet', () => {
    const [content = ''] = readPage('docs/guides/problem-detector.md').blocks('json');
    const ours = { name: 'kernel.kubenode.json', content };
    const { monitors, problems } = loadDetectorConfig([ours, configFile('kernel.json', exampleMonitor)]);
    expect(problems).toEqual([]);
    expect(JSON.stringify(monitors)).toContain('"window":{"count":3,"windowMs":300000}');
    expect(JSON.stringify(monitors)).toContain('600000');
  });

  it('reads the shapes of files that node-problem-detector ships, also several with one source', () => {
    const files = SHIPPED_SHAPES.map((shape, index) => configFile(`${index}.json`, shape));
    const { monitors, problems } = loadDetectorConfig(files);
    expect(problems).toEqual([]);
    expect(
      monitors.map(({ kind, source, conditions, rules }) => [kind, source, conditions.length, rules.length]),
    ).toEqual([
      ['Log', 'crash-adaptor', 0, 1],
      ['Log', 'runtime-monitor', 0, 0],
      ['Log', 'disk-monitor', 1, 1],
      ['Plugin', 'health-checker', 1, 1],
      ['Plugin', 'health-checker', 1, 1],
      ['Plugin', 'mode-monitor', 0, 1],
    ]);
  });

  it('adds our file to the log monitor of a source that a plug-in has, too, but not to one of two logs', () => {
    const rules = [{ reason: 'DockerHung', count: 2, windowSeconds: 60 }];
    const ours = configFile('kernel.kubenode.json', { source: 'kernel-monitor', rules });
    const counter = configFile('counter.json', { ...pluginMonitor, source: 'kernel-monitor' });
    const together = loadDetectorConfig([counter, kernel, ours]);
    expect(together.problems).toEqual([]);
    expect(JSON.stringify(together.monitors)).toContain('"window":{"count":2,"windowMs":60000}');
    const other = configFile('other.json', { ...kernelMonitor, conditions: [], rules: [] });
    expect(loadDetectorConfig([kernel, other, ours]).problems).toEqual([
      'kernel.kubenode.json: source: kernel-monitor is the source of kernel.json and other.json: give each its own source',
    ]);
  });

  it.each([
    [
      configFile('b.json', { ...kernelMonitor, source: 'b' }),
      'b.json: conditions: KernelDeadlock is a condition of kernel.json, too',
    ],
    [
      configFile('b.kubenode.json', { source: 'other' }),
      'b.kubenode.json: source: no file that is in use has the source other',
    ],
    [
      configFile('b.json', { cpu: { metricsConfigs: {} }, invokeInterval: '60s' }),
      'b.json: plugin: missing: only files of the system log monitor and of the custom plug-in monitor are read, not those of metrics',
    ],
    [{ name: 'b.json', content: '[]' }, 'b.json: expected an object, got []'],
  ])('refuses what does not fit: %j', (file, problem) => {
    expect(loadDetectorConfig([kernel, file])).toMatchObject({
      monitors: [{ file: 'kernel.json' }],
      problems: [problem],
    });
  });
});
