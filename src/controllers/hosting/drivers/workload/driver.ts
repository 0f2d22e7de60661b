/**
 * The driver `workload`: the members of a control plane are pods of its hub, in a namespace of its own. Everything about it is in that
 * namespace, so that each hosting of the hub finds it.
 */
import type { Client } from '../../../../kube/client/client.ts';
import { isKubeError } from '../../../../kube/client/errors.ts';
import type { Clock } from '../../../../os/clock.ts';
import { messageOf } from '../../../../os/errors.ts';
import { HostingError } from '../../errors.ts';
import { type AuthorityProver, proveAuthorities } from '../authorities/proofs.ts';
import type { PlaneDriver, PlaneReport, PlaneSpec } from '../driver.ts';
import { ASKING, type EtcdAsking } from '../etcd/membership.ts';
import { accessOf } from './access.ts';
import { createPodEtcdActs } from './etcd/acts.ts';
import { shrinkPods } from './etcd/space.ts';
import { changeApiServers } from './execute/api-servers.ts';
import { createPodBackups } from './execute/backup/operations.ts';
import { endRestore } from './execute/backup/restore.ts';
import { changeMember, correctMember, restartMember, settleWorkload } from './execute/change.ts';
import { startMember, stopMember } from './execute/members.ts';
import { prepareWorkload } from './execute/prepare.ts';
import { beginRemoval, removeWorkload } from './execute/remove.ts';
import { rotateWorkload } from './execute/rotate.ts';
import { signWorkload } from './execute/sign.ts';
import { takeWorkloadSnapshot } from './execute/snapshot.ts';
import { ACCESS_KINDS, readHubPlane } from './hub.ts';
import { imagesOf, type WorkloadImages } from './images.ts';
import { observeWorkload } from './observe.ts';
import { type CertificateProbe, probeCertificate } from './probe.ts';

export interface WorkloadDriverOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Reads the file of images. It is read again each time, so that a new version needs no restart. */
  readonly images: () => Promise<WorkloadImages>;
  /** Default: by the network. */
  readonly asking?: EtcdAsking;
  /** Default: by the network. */
  readonly probe?: CertificateProbe;
  /** Default: by the network. */
  readonly prove?: AuthorityProver;
}

export function createWorkloadDriver(options: WorkloadDriverOptions): PlaneDriver {
  const { client, clock } = options;
  const asking = options.asking ?? ASKING;
  const { probe = probeCertificate, prove = proveAuthorities } = options;
  const hub = { client, clock, asking };
  const images = async (): Promise<WorkloadImages | undefined> => (await readImages(options)).found;
  return withReasons({
    observe: async (plane, signal) => {
      const { programs, found } = await readImages(options);
      const takesBackups = found?.backupStorageClass !== undefined;
      const parts = { client, now: clock.now(), programs, signal, asking, takesBackups, probe, prove };
      return await observeWorkload(plane, { ...parts, classes: found });
    },
    prepare: async (plane) => {
      await prepareWorkload(plane, { ...hub, ...choices(await images(), plane) });
    },
    start: async (plane, member) => {
      const parts = { ...hub, images: await images() };
      if (member === 'etcd') await endRestore(plane, parts);
      await startMember(plane, member, parts);
    },
    stop: (plane, member) => stopMember(plane, member, hub),
    change: async (plane, member, run) =>
      changeMember(plane, { member, run }, { ...hub, images: await images() }),
    correct: async (plane, member) => correctMember(plane, member, { ...hub, images: await images() }),
    restart: async (plane, member) => restartMember(plane, member, { ...hub, images: await images() }),
    rotate: async (plane, step) => rotateWorkload(plane, step, { ...hub, ...choices(await images(), plane) }),
    signAuthorities: (plane, known) => signWorkload(plane, known, hub),
    snapshot: async (plane, signal) =>
      takeWorkloadSnapshot(plane, { ...hub, images: await images(), signal }),
    backups: createPodBackups(async () => ({ ...hub, images: await images() })),
    shrink: (plane) => shrinkPods(plane, hub),
    settle: (plane, settled) => settleWorkload(plane, settled, hub),
    beginDestroy: (plane) => beginRemoval(plane, hub),
    remove: (plane) => removeWorkload(plane, hub),
    access: async (plane) => accessOf(await readHubPlane(client, plane, { only: ACCESS_KINDS }), clock.now()),
    ...createPodEtcdActs(async () => ({ ...hub, images: await images() })),
    setApiServers: (plane, count) => changeApiServers(plane, count, hub),
  });
}

/** Reports to a person what the hub refuses, such as by a quota. Everything else is tried again. */
function withReasons({ backups, ...driver }: PlaneDriver): PlaneDriver {
  return { ...guarded(driver), ...(backups ? { backups: guarded(backups) } : {}) };
}

function guarded<T extends object>(calls: T): T {
  const entries = Object.entries(calls) as readonly [
    string,
    (...args: readonly unknown[]) => Promise<unknown>,
  ][];
  const wrapped = entries.map(([name, call]) => [
    name,
    async (...args: readonly unknown[]): Promise<unknown> => {
      try {
        return await call(...args);
      } catch (error) {
        throw refusal(error) ?? error;
      }
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

function refusal(error: unknown): HostingError | undefined {
  if (!isKubeError(error, 'Forbidden', 'Invalid')) return undefined;
  return new HostingError('HubRefused', error.message, {
    where: 'the hub',
    hint: 'look at the quotas and policies of the hub, and at the roles of this version: kubenode install',
    cause: error,
  });
}

interface FoundImages {
  readonly found: WorkloadImages | undefined;
  readonly programs: PlaneReport['programs'];
}

async function readImages({ images }: WorkloadDriverOptions): Promise<FoundImages> {
  try {
    const found = await images();
    const versions = found.versions.map(({ version, etcdVersion }) => ({
      kubernetes: version,
      etcd: etcdVersion,
    }));
    return { found, programs: { versions, controllers: found.kubenode } };
  } catch (error) {
    return { found: undefined, programs: { problem: messageOf(error), isLoading: false } };
  }
}

function choices(
  images: WorkloadImages | undefined,
  { version }: PlaneSpec,
): { readonly storageClass: string | undefined; readonly etcdVersion: string | undefined } {
  return {
    storageClass: images?.storageClass,
    etcdVersion: images && imagesOf(images, version)?.etcdVersion,
  };
}
