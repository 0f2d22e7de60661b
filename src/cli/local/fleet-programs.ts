/** The programs that run for a fleet: those of `kubenode start --demo`, which end with it, and those that a person started by hand. */
import { existsSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { endHint } from '../../local/claim.ts';
import { findFleetFolder } from '../../local/fleet.ts';
import type { Layout } from '../../local/layout.ts';
import { readEnvironment } from '../../os/process/environment.ts';
import { type ProcessIdentity, readProcessIdentity } from '../../os/process/identity.ts';
import { listPids } from '../../os/process/table.ts';
import { CliError } from '../errors.ts';
import { type DemoProgram, selectPrograms } from './demo-programs.ts';
import { type FleetUser, type KubenodeProcess, selectFleetUsers } from './fleet-users.ts';

export async function findPrograms({
  kubeconfig,
}: Pick<Layout, 'kubeconfig'>): Promise<readonly DemoProgram[]> {
  return selectPrograms(await listProcesses(), kubeconfig);
}

async function listProcesses(): Promise<readonly ProcessIdentity[]> {
  const all = await Promise.all(
    (await listPids()).map((pid) => readProcessIdentity(pid).catch(() => undefined)),
  );
  return all.filter((identity): identity is ProcessIdentity => identity !== undefined);
}

/** Programs with the kubeconfig of this fleet, or with its folder for machines. */
export async function findFleetUsers({ root }: Pick<Layout, 'root'>): Promise<readonly FleetUser[]> {
  const others = (await listProcesses()).filter(({ pid }) => pid !== process.pid);
  return selectFleetUsers(await Promise.all(others.map(observe)), root);
}

async function observe({ pid, command }: ProcessIdentity): Promise<KubenodeProcess> {
  const variables = await readEnvironment(pid);
  const env = Object.fromEntries(
    variables.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  );
  // Without an environment it is a process of another user, which cannot use this fleet.
  const hasUserKubeconfig = variables.length === 0 || existsSync(join(env['HOME'] ?? '/', '.kube', 'config'));
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return { pid, command, env, cwd, hasUserKubeconfig };
}

/** Throws while such a program runs: it would create machines or control planes in folders that are being deleted. */
export function requireNoControllers(users: readonly FleetUser[], root: string): void {
  const controllers = users.filter(({ createsProcesses }) => createsProcesses);
  if (controllers.length === 0) return;
  throw new CliError('a controller still uses this fleet', {
    where: `${root}: ${formatUsers(controllers)}`,
    hint: `end it, then run this command again: kill ${controllers.map(({ pid }) => pid).join(' ')}`,
  });
}

export function formatUsers(users: readonly FleetUser[]): string {
  return users.map(({ command, pid }) => `${command} (pid ${pid})`).join(', ');
}

/** Controllers would start machines again that are being ended, in folders that are being deleted. */
export async function requireNoPrograms(layout: Layout): Promise<void> {
  const programs = await findPrograms(layout);
  if (programs.length === 0) return;
  throw new CliError('kubenode start still runs this fleet', {
    where: whereOf(layout, programs),
    hint: `${await endHint(layout)}, which also stops the fleet, and what you started by hand with kill; then run this command again`,
  });
}

/** Each of two would stop the clusters of the other. */
export async function requireNotStarted(dir: string): Promise<void> {
  const layout = await findFleetFolder(dir);
  const programs = layout ? await findPrograms(layout) : [];
  if (!layout || programs.length === 0) return;
  throw new CliError('kubenode start runs this fleet already', {
    where: whereOf(layout, programs),
    hint: `use it, or ${await endHint(layout)}; another fleet needs another folder: --dir`,
  });
}

function whereOf({ root }: Pick<Layout, 'root'>, programs: readonly DemoProgram[]): string {
  return `${root}: ${programs.map(({ name, identity }) => `${name} (pid ${identity.pid})`).join(', ')}`;
}
