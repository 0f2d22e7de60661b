import { expect, it } from 'vitest';
import { createMemoryHost } from '../../../src/agent/host/memory/host.ts';
import { DESIRED_FILE } from '../../../src/agent/layout.ts';
import { requireOwnHost } from '../../../src/agent/run/acceptance.ts';
import { writeStateFile } from '../../../src/agent/state-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

it('works on no host of another Machine', async () => {
  const { files } = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
  await expect(requireOwnHost(files, 'n9')).resolves.toBeUndefined();
  await writeStateFile(files, DESIRED_FILE, { name: 'n1' });
  await expect(requireOwnHost(files, 'n1')).resolves.toBeUndefined();
  await expect(requireOwnHost(files, 'n9')).rejects.toMatchObject({
    code: 'BadInput',
    message: 'this host belongs to Machine n1, not to n9',
  });
});
