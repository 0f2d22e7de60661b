/** A hub with two clusters and two processes of sync, on real API servers. A fresh one takes a few seconds. */
import { join } from 'node:path';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { readClusterUID } from '../../../../src/sync/cluster-uid.ts';
import type { ApiServer } from '../../../support/control-plane.ts';
import { createTestRepository, type TestRepository } from '../../../support/git-server/repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type Content, GOOD, withBeat } from '../../../sync/fuzz/content.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';
import { NEVER } from '../target-cluster.ts';
import { type Controllers, startControllers } from './controllers.ts';
import { createSyncProcesses, type SyncProcesses } from './processes.ts';
import { formatRendered, RENDERED_FILE, UNRENDERABLE } from './rendered-file.ts';
import {
  addCredentials,
  type ClusterName,
  declareCluster,
  declarePipeline,
  NAMES,
  NEIGHBOR,
  prepareTarget,
  TARGET,
} from './setup.ts';

export interface FuzzFleet {
  readonly hub: ApiServer;
  readonly servers: Readonly<Record<ClusterName, ApiServer>>;
  readonly hubUID: string;
  readonly processes: SyncProcesses;
  /** Every content that was committed since the last reset. */
  readonly committed: readonly Content[];
  /** Pushes a commit with this content. Returns its hash. */
  commit(cluster: ClusterName, subject: string, content: Content): string;
  commitUnrenderable(cluster: ClusterName): void;
  head(cluster: ClusterName): string;
  /** Empty servers, repositories with one good commit, and new processes. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFuzzFleet(): Promise<FuzzFleet> {
  const [hub, target] = await Promise.all([startInstalledServer(), startInstalledServer()]);
  const servers = { [TARGET]: target.server, [NEIGHBOR]: hub.server };
  await prepareTarget(target.server);
  for (const name of NAMES) {
    await addCredentials(hub.server, name, servers[name]);
    await declareCluster(hub.server.client, name);
  }
  await keepAll([hub, target]);
  const kubeconfig = await hub.server.kubeconfigFor(createPrincipal('kubenode-sync'));
  const controllers = startControllers(target.server.client);
  const hubUID = await readClusterUID(hub.server.client, NEVER);
  return createFuzzFleet({ installed: [hub, target], servers, kubeconfig, hubUID, controllers });
}

interface Parts {
  readonly installed: readonly InstalledServer[];
  readonly servers: Readonly<Record<ClusterName, ApiServer>>;
  readonly kubeconfig: string;
  readonly hubUID: string;
  readonly controllers: Controllers;
}

function createFuzzFleet({ installed, servers, kubeconfig, hubUID, controllers }: Parts): FuzzFleet {
  const hub = servers[NEIGHBOR];
  let processes: SyncProcesses | undefined;
  let repositories: Readonly<Record<ClusterName, TestRepository>> | undefined;
  let committed: Content[] = [];

  return {
    hub,
    servers,
    hubUID,
    get processes() {
      return opened(processes);
    },
    get committed() {
      return committed;
    },
    commit,
    commitUnrenderable(cluster) {
      opened(repositories)[cluster].commit('does not render', { [RENDERED_FILE]: UNRENDERABLE });
    },
    head: (cluster) => opened(repositories)[cluster].head(),
    async reset() {
      await processes?.stop();
      for (const { server } of installed) await server.wipe();
      const folder = tempFolder('fuzz');
      repositories = {
        [TARGET]: createTestRepository(join(folder, TARGET)),
        [NEIGHBOR]: createTestRepository(join(folder, NEIGHBOR)),
      };
      committed = [];
      for (const name of NAMES) {
        commit(name, 'good', name === TARGET ? GOOD : withBeat({}, 'good'));
        await declarePipeline(hub.client, name, repositories[name].bare);
      }
      processes = createSyncProcesses(folder, kubeconfig);
      processes.start();
    },
    async stop() {
      await processes?.stop();
      await controllers.close();
      for (const each of installed) await each.stop();
    },
  };

  function commit(cluster: ClusterName, subject: string, content: Content): string {
    committed.push(content);
    return opened(repositories)[cluster].commit(subject, {
      [RENDERED_FILE]: formatRendered(cluster, content),
    });
  }
}

async function keepAll(installed: readonly InstalledServer[]): Promise<void> {
  for (const { server } of installed) await server.keep();
}

function opened<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the fleet was not reset yet');
  return value;
}
