import { expect, it } from 'vitest';
import { createMemoryHost } from '../../../src/agent/host/memory/host.ts';
import { observePrograms, programPaths, writeManifest } from '../../../src/agent/install/programs.ts';
import { agentUnit, target } from '../../support/agent/targets.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const { directory, ...V1 } = target('1.0');

function pathsFor(hostDirectory: string, argv: readonly string[]): readonly string[] {
  const exec = { argv: [...argv], env: {}, user: 'root' };
  const artifact = V1.artifact && { ...V1.artifact, install: [] };
  const units = [agentUnit('proxy', { exec })];
  return programPaths(
    { directory: hostDirectory },
    { ...V1, directory, ...(artifact && { artifact }), units },
  );
}

it('watches the program of a unit, and the script that an interpreter of the host runs', () => {
  const [program, script] = [`${directory}/proxy`, `${directory}/main.mjs`];
  expect(pathsFor('/', [program, '--port=80', '/etc/proxy.conf'])).toEqual([program]);
  expect(pathsFor('/', ['/usr/bin/node', script, `${directory}-other/x`])).toEqual([script]);
  expect(pathsFor('/tmp/n1', ['/usr/bin/node', `/tmp/n1${script}`])).toEqual([script]);
});

it('AGT-30 knows the mode and the owner that a program was installed with', async () => {
  const host = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  const own = { ...V1, directory };
  const path = `${directory}/proxy`;
  await host.files.write(path, new Uint8Array([1]), { mode: '0755', owner: 'root:root' });
  await writeManifest(host, own, directory);
  await host.files.setAttributes(path, { mode: '0644', owner: 'www-data:root' });
  const observed = await observePrograms(host, [own], (each) => host.files.digest(each));
  const { attributes, expectedAttributes, found, expected } = observed.get(path) ?? {};
  expect(attributes).toEqual({ mode: '0644', owner: 'www-data:root' });
  expect(expectedAttributes).toEqual({ mode: '0755', owner: 'root:root' });
  expect(found).toBe(expected);
});
