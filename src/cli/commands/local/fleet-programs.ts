/** The programs that `kubenode start --demo` runs for a fleet. They end with it, so while one runs, it does. */
import type { Layout } from '../../../local/layout.ts';
import { type ProcessIdentity, readProcessIdentity } from '../../../os/process/identity.ts';
import { listPids } from '../../../os/process/table.ts';
import { CliError } from '../../errors.ts';
import { type DemoProgram, selectPrograms } from '../tour/programs.ts';

export async function findPrograms({
  kubeconfig,
}: Pick<Layout, 'kubeconfig'>): Promise<readonly DemoProgram[]> {
  const all = await Promise.all(
    (await listPids()).map((pid) => readProcessIdentity(pid).catch(() => undefined)),
  );
  const found = all.filter((identity): identity is ProcessIdentity => identity !== undefined);
  return selectPrograms(found, kubeconfig);
}

/** Controllers would start machines again that are being ended, in folders that are being deleted. */
export async function requireNoPrograms(layout: Pick<Layout, 'kubeconfig' | 'root'>): Promise<void> {
  const programs = await findPrograms(layout);
  if (programs.length === 0) return;
  const running = programs.map(({ name, identity }) => `${name} (pid ${identity.pid})`);
  throw new CliError('kubenode start still runs this fleet', {
    where: `${layout.root}: ${running.join(', ')}`,
    hint: 'end it with Ctrl-C in its terminal, which also stops the fleet; then run this command again',
  });
}
