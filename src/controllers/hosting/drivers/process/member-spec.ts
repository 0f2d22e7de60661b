/** Describes a member of a control plane as a process. */
import { LOOPBACK } from '../../../../local/processes/commands.ts';
import type { ServedCertificate } from '../../../../local/processes/probe.ts';
import { type HttpAnswer, httpGet } from '../../../../os/net/http-get.ts';
import type { Command } from '../../../../os/process/child.ts';
import type { ApiServerMember, PlaneMember } from '../driver.ts';

export interface MemberSpec {
  readonly member: PlaneMember;
  readonly command: Command;
  readonly port: number;
  readonly logFile: string;
  /** Whether this command line is the member, possibly with other settings. */
  readonly matches: (command: readonly string[]) => boolean;
  /** Whether this command line is an API server that has the port of clients, although balancers are to have it. */
  readonly isDirect?: (command: readonly string[]) => boolean;
  /** Asks the process with that command line. */
  readonly probe: (command: readonly string[]) => Promise<MemberAnswer>;
  /** The file with the certificate that it serves; undefined: it serves none. */
  readonly certificateFile?: string;
  /** Where it answers clients with a certificate. Undefined: nowhere. */
  readonly secureUrl?: string;
}

export interface MemberAnswer {
  readonly isReady: boolean;
  readonly certificate?: ServedCertificate | undefined;
  /** The API servers that a balancer finds ready. */
  readonly reaches?: readonly ApiServerMember[] | undefined;
}

/** Asks one of our own programs whether it is ready. */
export async function probeHealth(port: number): Promise<MemberAnswer> {
  return { isReady: (await askHealth(port))?.status === 200 };
}

export async function askHealth(port: number): Promise<HttpAnswer | undefined> {
  const url = `http://${LOOPBACK}:${port}/readyz`;
  return await httpGet(url, AbortSignal.timeout(PROBE_MS)).catch(() => undefined);
}

const PROBE_MS = 5000;
