import { describe, expect, it } from 'vitest';
import type { MachineComponentSpec } from '../../../../../../src/api/generated/types.ts';
import {
  componentFile,
  isSameFile,
  writesPath,
} from '../../../../../../src/controllers/following/clusterapi/extension/files/component-file.ts';
import { componentSpec } from '../../../../../support/agent/component-spec.ts';
import { agentFile } from '../../../../../support/agent/targets.ts';

const PATH = '/etc/a';
const WHERE = { path: PATH, machine: 'node-1' };
const FILE = agentFile(PATH, 'a\n');

function specWith(file: Partial<MachineComponentSpec['files'][number]>): MachineComponentSpec {
  const level = { name: 'level', description: '', default: 'info' };
  return componentSpec('1', { parameters: [level], files: [{ ...FILE, ...file }] });
}

describe('the file of a component', () => {
  it.each<
    [
      name: string,
      file: Partial<typeof FILE>,
      parameters: Readonly<Record<string, string>>,
      expected: unknown,
    ]
  >([
    [
      'content, mode and owner',
      { mode: '0600', owner: 'a:b' },
      {},
      { content: 'a\n', mode: 0o600, owner: 'a:b' },
    ],
    [
      'a parameter',
      { content: '${param.level}\n' },
      { level: 'debug' },
      { content: 'debug\n', mode: 0o644, owner: 'root:root' },
    ],
    [
      'the default of a parameter',
      { content: '${param.level}\n' },
      {},
      { content: 'info\n', mode: 0o644, owner: 'root:root' },
    ],
    [
      'the name of the machine',
      { content: '${machine.name}\n' },
      {},
      { content: 'node-1\n', mode: 0o644, owner: 'root:root' },
    ],
    [
      'nothing that the host replaces',
      { content: '${dir} ${machine.address}\n' },
      {},
      '/etc/a of proxy 1 has ${dir}, ${machine.address}, which its host replaces',
    ],
    ['no part of a file', { merge: 'Block' }, {}, 'proxy 1 writes a part of /etc/a only'],
    ['no other path', { path: '/etc/b' }, {}, 'proxy 1 has no file /etc/a'],
  ])('CAP-17 has what the agent writes: %s', (_, file, parameters, expected) => {
    const found = componentFile(specWith(file), { parameters }, WHERE);
    expect(found).toEqual(expected);
  });

  it('CAP-17 is the same with the same content, mode and owner only', () => {
    const host = { content: 'a\n', mode: 0o644, owner: 'root:root' };
    expect(isSameFile(host, { ...host })).toBe(true);
    for (const other of [{ content: 'b\n' }, { mode: 0o600 }, { owner: 'a:b' }]) {
      expect(isSameFile(host, { ...host, ...other })).toBe(false);
    }
  });

  it('CAP-17 is also one that a component links from its artifact', () => {
    const [artifact] = componentSpec('1').artifacts;
    const install = [{ from: 'a', to: '/usr/bin/a', mode: '0755' }];
    const spec = componentSpec('1', { artifacts: artifact ? [{ ...artifact, install }] : [] });
    expect([writesPath(spec, '/usr/bin/a'), writesPath(spec, PATH)]).toEqual([true, false]);
  });
});
