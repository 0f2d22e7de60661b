import { describe, expect, it } from 'vitest';
import { kernelMonitor as exampleMonitor } from '../../../../fleet/components/problem-detector-files.ts';
import { loadDetectorConfig } from '../../../../src/agent/detector/config/load.ts';
import {
  configFile,
  kernelMonitor,
  pluginMonitor,
  READ_ONLY,
  SHIPPED_SHAPES,
} from '../../../support/agent/detector-config.ts';
import { SHIPPED_FAMILIES } from '../../../support/agent/npd-families.ts';
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

  it('reads the rights in docs/guides/problem-detector.md', () => {
    const [, rights = ''] = readPage('docs/guides/problem-detector.md').blocks('json');
    const file = { ...pluginMonitor, ...(JSON.parse(`{${rights}}`) as object) };
    const { monitors, problems } = loadDetectorConfig([configFile('ntp.json', file)]);
    expect(problems).toEqual([]);
    expect(monitors).toMatchObject([{ rights: { user: 'daemon', capabilities: ['CAP_NET_ADMIN'] } }]);
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

  it('does without a condition that another file has, and without its rules, but uses the rest of the file', () => {
    const { monitors, problems } = loadDetectorConfig([
      kernel,
      configFile('other.json', {
        ...kernelMonitor,
        source: 'other',
        conditions: [READ_ONLY, { type: 'OtherProblem', reason: 'NoOtherProblem', message: '' }],
        rules: [
          { type: 'permanent', condition: 'ReadonlyFilesystem', reason: 'IsReadOnly', pattern: 'read-only' },
          { type: 'permanent', condition: 'OtherProblem', reason: 'Other', pattern: 'other' },
          { type: 'temporary', reason: 'Oom', pattern: 'oom' },
        ],
      }),
    ]);
    expect(problems).toEqual([
      'other.json: conditions: ReadonlyFilesystem is a condition of kernel.json, too: ' +
        'it and its rules IsReadOnly are not used. Remove one of the two',
    ]);
    expect(
      monitors.map(({ file, conditions, rules }) => [
        file,
        conditions.map(({ type }) => type),
        rules.map(({ reason }) => reason),
      ]),
    ).toEqual([
      [
        'kernel.json',
        ['KernelDeadlock', 'ReadonlyFilesystem'],
        ['TaskHung', 'OOMKilling', 'DockerHung', 'FilesystemIsReadOnly', 'KernelOops'],
      ],
      ['other.json', ['OtherProblem'], ['Other', 'Oom']],
    ]);
  });

  it('does not use a file of which nothing is left then, and the same of plug-ins', () => {
    const ntpAgain = configFile('z.json', { ...pluginMonitor, source: 'again' });
    const kernelAgain = configFile('again.json', {
      ...kernelMonitor,
      conditions: [READ_ONLY],
      rules: [{ type: 'permanent', condition: 'ReadonlyFilesystem', reason: 'IsReadOnly', pattern: 'x' }],
    });
    const { monitors, problems } = loadDetectorConfig([ntp, ntpAgain, kernel, kernelAgain]);
    expect(monitors.map(({ file, rules }) => [file, rules.length])).toEqual([
      ['ntp.json', 2],
      ['z.json', 1],
      ['kernel.json', 5],
    ]);
    expect(problems).toHaveLength(2);
  });

  it.each(Object.entries(SHIPPED_FAMILIES))(
    'AGT-70 loads the files that node-problem-detector ships, or reports why not: %s',
    (name, { file, expected }) => {
      const { monitors, problems } = loadDetectorConfig([configFile(`${name}.json`, file)]);
      const loaded = monitors.map(({ kind, source, conditions, rules }) =>
        [kind, source, `conditions=${conditions.length}`, `rules=${rules.length}`].join(' '),
      );
      expect([...loaded, ...problems]).toEqual([expected]);
    },
  );

  it('AGT-70 loads all of them together, and drops no more than what two of them have', () => {
    const files = Object.entries(SHIPPED_FAMILIES).map(([name, { file }]) =>
      configFile(`${name}.json`, file),
    );
    const { monitors, problems } = loadDetectorConfig(files);
    const refused = Object.entries(SHIPPED_FAMILIES).filter(([name, { expected }]) =>
      expected.startsWith(`${name}.json: `),
    );
    expect(problems.filter((problem) => problem.includes(', too: '))).toEqual([
      'kernel-monitor-filelog.json: conditions: KernelDeadlock is a condition of kernel-monitor.json, too: it and its rules DockerHung are not used. Remove one of the two',
      'kernel-monitor-filelog.json: conditions: ReadonlyFilesystem is a condition of kernel-monitor.json, too: it and its rules FilesystemIsReadOnly are not used. Remove one of the two',
      'readonly-monitor.json: conditions: ReadonlyFilesystem is a condition of kernel-monitor.json, too: it and its rules FilesystemIsReadOnly are not used. Remove one of the two',
    ]);
    expect(problems).toHaveLength(refused.length + 3);
    expect(monitors.map(({ file }) => file)).not.toContain('readonly-monitor.json');
    expect(monitors.find(({ file }) => file === 'kernel-monitor-filelog.json')?.rules.length).toBe(3);
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
