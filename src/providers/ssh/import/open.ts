/** Opens the hosts of imports over SSH. */
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import { connectSsh } from '../channel/connect.ts';
import { elevationFor, inspectConnected } from '../preflight/inspect.ts';
import { hostFor } from './address.ts';
import type { ImportHost, ImportHosts, ImportTarget } from './contract.ts';
import { deliverTo, installAgentOn, releaseOverSsh, requestCertificateOn } from './host.ts';
import { createImportSession, type ImportLimits } from './session.ts';

export interface OpenImportOptions {
  /** The folder with programs.json and the programs of the agent. */
  readonly programs: string;
  readonly clock: Clock;
  readonly limits?: Partial<ImportLimits>;
  /** A folder on the hosts to which all paths are mapped. Default: none. */
  readonly root?: string;
}

const SECOND = 1000;
/** A host under load takes seconds for what an idle one does at once. A release stops every component, one after the other. */
const LIMITS: ImportLimits = {
  connectMs: 30 * SECOND,
  scriptMs: 60 * SECOND,
  commandMs: 120 * SECOND,
  stallMs: 60 * SECOND,
  releaseMs: 900 * SECOND,
};

export function openImportHosts(options: OpenImportOptions): ImportHosts {
  return { connect: (target, signal) => connect(target, signal, options) };
}

async function connect(
  target: ImportTarget,
  signal: AbortSignal,
  { programs, clock, root = '', ...options }: OpenImportOptions,
): Promise<ImportHost> {
  const limits = { ...LIMITS, ...options.limits };
  const { connectMs, scriptMs } = limits;
  const connection = await connectSsh(hostFor(target), { clock, signal, connectMs });
  const { hostKey } = connection;
  const sudo = optional('sudoPassword', target.secret.sudoPassword);
  const elevation = elevationFor(connection, sudo);
  const session = createImportSession({ connection, elevation, limits, clock, signal, root });
  return {
    hostKey,
    inspect: (server) =>
      inspectConnected(connection, [hostKey], {
        clock,
        signal,
        scriptMs,
        ...optional('server', server),
        ...sudo,
      }),
    install: () => installAgentOn(session, target, programs),
    request: (how = {}) => requestCertificateOn(session, target, how),
    deliver: (access) => deliverTo(session, target, access),
    release: (cleanup) =>
      releaseOverSsh(session, { machineUid: target.machineUid, folder: programs }, cleanup),
    close: () => connection.close(),
  };
}
