import { describe, expect, it } from 'vitest';
import { findDifferences } from '../../../../src/agent/component/drift/differences.ts';
import type { ComponentObservation } from '../../../../src/agent/component/observe.ts';
import type { FileAttributes } from '../../../../src/agent/host/port.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import { installed, V1 } from '../../../support/agent/component-input.ts';
import { agentFile, agentUnit, target } from '../../../support/agent/targets.ts';

const TWO_UNITS = target('1.0', {
  units: [agentUnit('proxy'), agentUnit('other')],
  files: [agentFile('/a', 'x', { units: ['other'] }), agentFile('/b', 'x', { onChange: 'Drain' })],
});

const OF_ROOT: FileAttributes = { mode: '0755', owner: '0:0' };

function explain(of: typeof V1, fields: Partial<ComponentObservation>): readonly string[] {
  return findDifferences(of, installed(of, fields)).map(
    ({ kind, subject, affects }) => `${kind} ${subject}, affects ${affects.join(' ') || 'nothing'}`,
  );
}

describe('findDifferences', () => {
  it.each<[name: string, of: typeof V1, fields: Partial<ComponentObservation>, expected: readonly string[]]>([
    ['finds none on its own result', V1, {}, []],
    [
      'finds all of it on an empty host, but the data directory',
      V1,
      { files: new Map(), units: new Map(), directories: new Set() },
      [
        `Missing ${V1.directory}, affects proxy`,
        'Missing /etc/proxy/proxy.conf, affects proxy',
        'Missing /usr/local/bin/proxy, affects nothing',
        'Missing /opt/kubenode/proxy/current, affects nothing',
        'Unit proxy, affects nothing',
        'Run proxy, affects nothing',
      ],
    ],
    [
      'names the units that a file concerns: those that it lists, or all',
      TWO_UNITS,
      { files: new Map([...installed(TWO_UNITS).files].filter(([path]) => !/^\/[ab]$/.test(path))) },
      ['Missing /a, affects other', 'Missing /b, affects proxy other'],
    ],
    [
      'finds a file that is a link or a directory',
      V1,
      {
        files: new Map([
          ...installed(V1).files,
          ['/etc/proxy/proxy.conf', { type: 'Directory', mode: '0755', owner: 'root:root' }],
        ]),
      },
      ['Content /etc/proxy/proxy.conf, affects proxy'],
    ],
    [
      'finds a program that is missing',
      V1,
      { programs: new Map([[`${V1.directory}/proxy`, { expected: 'a' }]]) },
      [`Content ${V1.directory}/proxy, affects proxy`],
    ],
    [
      'leaves a program without a known digest, and those of other versions',
      V1,
      {
        programs: new Map([
          [`${V1.directory}/proxy`, { found: 'b' }],
          ['/opt/kubenode/proxy/2/a', { found: 'b', expected: 'a' }],
        ]),
      },
      [],
    ],
  ])('%s', (_, of, fields, expected) => {
    expect(explain(of, fields)).toEqual(expected);
  });

  it('leaves the directory of a version whose artifact is being downloaded, and nothing else', () => {
    const observed = installed(V1, { directories: new Set(), units: new Map() });
    const subjects = (downloading: readonly string[]): readonly string[] =>
      findDifferences(V1, observed, new Set(downloading)).map(({ subject }) => subject);
    expect(subjects([V1.artifact?.sha256 ?? ''])).toEqual(['proxy', 'proxy']);
    expect(subjects(['other'])).toEqual([V1.directory, 'proxy', 'proxy']);
  });

  it.each<[name: string, attributes: FileAttributes, expected: FileAttributes | undefined, because: string]>([
    ['may not be executed', { mode: '0644', owner: '0:0' }, OF_ROOT, 'has mode 0644, not 0755'],
    ['anybody may change', { mode: '0777', owner: '0:0' }, OF_ROOT, 'has mode 0777, not 0755'],
    ['another user owns', { mode: '0755', owner: '7:7' }, OF_ROOT, 'belongs to 7:7, not to 0:0'],
    ['an earlier agent unpacked', { mode: '0644', owner: '7:7' }, undefined, 'is not judged'],
  ])('AGT-30 sets back a program that %s', (_, attributes, expectedAttributes, because) => {
    const path = `${V1.directory}/proxy`;
    const program = {
      found: 'a',
      expected: 'a',
      attributes,
      ...optional('expectedAttributes', expectedAttributes),
    };
    const found = findDifferences(V1, installed(V1, { programs: new Map([[path, program]]) }));
    const correction = { op: 'SetAttributes', path, attributes: OF_ROOT };
    expect(found.map((each) => [each.kind, each.because, each.operations])).toEqual(
      expectedAttributes ? [['Mode', `${path} ${because}`, [correction]]] : [],
    );
  });
});
