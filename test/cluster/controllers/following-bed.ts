/** `kubenode controllers` that follow the objects of another system, on a real API server: one process, which may be killed and started again. */
import type { ChildProcess } from 'node:child_process';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { MANAGER_INSTALL, PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { eventually } from '../../support/eventually.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../defender/objects.ts';
import { endLease, killed, startLoggedControllers } from '../defender/processes.ts';

const POLICY = { scope: { nodeSelector: { all: true } }, zones: { haltPercent: 100, minNodes: 100 } };

export interface FollowingBed {
  readonly admin: Client;
  /** A client of a ServiceAccount of kubenode. */
  as(account: string): Promise<Client>;
  /** What all processes have logged. */
  logged(): string;
  /** Resolves when a process has logged the text. */
  logs(text: string): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** With the roles that an installation with these flags brings. */
export async function startFollowing(
  roles: readonly KubeObject[],
  flags: readonly string[],
): Promise<FollowingBed> {
  const installed: InstalledServer = await startInstalledServer();
  const admin = installed.server.client;
  let controllers: ChildProcess | undefined;
  let text = '';
  for (const object of roles) {
    await admin.apply(resourceOf(object), object, { fieldManager: MANAGER_INSTALL });
  }
  await start();
  await applyFleetDefault(installed, POLICY);
  return {
    admin,
    as: (account) => installed.as(serviceAccountUser(account), ACCOUNTS),
    logged: () => text,
    async logs(part) {
      await eventually(async () => text.includes(part) || undefined, `the log does not have: ${part}`);
    },
    async kill() {
      if (controllers) await killed(controllers);
      await endLease(admin);
    },
    start,
    async stop() {
      if (controllers) await killed(controllers);
      await installed.stop();
    },
  };

  async function start(): Promise<void> {
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    controllers = startLoggedControllers(kubeconfig, (more) => (text += more), ...flags);
  }
}
