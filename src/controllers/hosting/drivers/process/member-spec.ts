/** Describes a member of a control plane as a process. */
import { LOOPBACK } from '../../../../local/processes/commands.ts';
import type { ServedCertificate } from '../../../../local/processes/probe.ts';
import { httpGet } from '../../../../os/net/http-get.ts';
import type { Command } from '../../../../os/process/child.ts';
import type { PlaneMember } from '../driver.ts';

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
}

/** Asks one of our own programs whether it is ready. */
export async function probeHealth(port: number): Promise<MemberAnswer> {
  const url = `http://${LOOPBACK}:${port}/readyz`;
  const answer = await httpGet(url, AbortSignal.timeout(PROBE_MS)).catch(() => undefined);
  return { isReady: answer?.status === 200 };
}

const PROBE_MS = 5000;
