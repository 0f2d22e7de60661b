import { describe, expect, it } from 'vitest';
import type { DesiredComponent } from '../../../src/agent/component/input.ts';
import { refuseConflicts } from '../../../src/agent/desired/conflicts.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { agentFile, agentUnit, target } from '../../support/agent/targets.ts';

const { artifact: _artifact, ...BARE } = target('1.0', { files: [], units: [] });

function component(name: string, fields: Partial<Target>): readonly [string, DesiredComponent] {
  return [name, { state: 'Present', target: { ...BARE, component: name, ...fields } }];
}

function refused(...entries: readonly (readonly [string, DesiredComponent])[]): readonly string[] {
  return [...refuseConflicts(new Map(entries))].flatMap(([name, each]) =>
    each.state === 'Invalid' ? `${name}: ${each.message}` : [],
  );
}

function linked(to: string): Partial<Target> {
  const { artifact } = target('1.0');
  return artifact ? { artifact: { ...artifact, install: [{ from: 'x', to, mode: '0755' }] } } : {};
}

describe('entries that write the same thing', () => {
  it.each<[string, Partial<Target>, Partial<Target>, readonly string[]]>([
    [
      'are refused for one file',
      { files: [agentFile('/etc/x', 'a')] },
      { files: [agentFile('/etc/x', 'b', { merge: 'Ini' }), agentFile('/etc/x', 'b')] },
      [
        'a: /etc/x is also written by b: change the path in one of the two components',
        'b: /etc/x is also written by a: change the path in one of the two components',
      ],
    ],
    [
      'are refused for the one block of a file',
      { files: [agentFile('/etc/hosts', 'a', { merge: 'Block' })] },
      { files: [agentFile('/etc/hosts', 'b', { merge: 'Block' })] },
      [
        'a: /etc/hosts is also written by b: change the path in one of the two components',
        'b: /etc/hosts is also written by a: change the path in one of the two components',
      ],
    ],
    [
      'are refused for one unit',
      { units: [agentUnit('web')] },
      { units: [agentUnit('web')] },
      [
        'a: unit web is also written by b: change the name of the unit in one of the two components',
        'b: unit web is also written by a: change the name of the unit in one of the two components',
      ],
    ],
    [
      'are refused for one link into their artifacts',
      linked('/usr/local/bin/x'),
      linked('/usr/local/bin/x'),
      [
        'a: /usr/local/bin/x is also written by b: change the path in one of the two components',
        'b: /usr/local/bin/x is also written by a: change the path in one of the two components',
      ],
    ],
    [
      'are refused for a link where the other one has a file',
      linked('/etc/x'),
      { files: [agentFile('/etc/x', 'b')] },
      [
        'a: /etc/x is also written by b: change the path in one of the two components',
        'b: /etc/x is also written by a: change the path in one of the two components',
      ],
    ],
    [
      'share a file with keys of their own',
      { files: [agentFile('/etc/x', '{"a":1}', { merge: 'Json' })] },
      { files: [agentFile('/etc/x', '{"b":1}', { merge: 'Json' })] },
      [],
    ],
    [
      'have nothing in common',
      { files: [agentFile('/etc/a', '')] },
      { files: [agentFile('/etc/b', '')] },
      [],
    ],
  ])('%s', (_name, a, b, expected) => {
    expect(refused(component('a', a), component('b', b))).toEqual(expected);
  });

  it('are allowed when one of them is removed', () => {
    const a = component('a', { files: [agentFile('/etc/x', 'a')] });
    expect(refused(a, ['b', { state: 'Absent', id: 'x' }])).toEqual([]);
  });
});
