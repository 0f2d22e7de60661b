/** Decides the exit code of an import. What a person has to solve first wins: credentials, then the network, then the hosts. Pure. */
import { EXIT, type ExitCode } from '../../../errors.ts';
import type { HostReport } from './report.ts';

const DENIED = ['AuthRefused', 'HostKeyMismatch'];

export function importExitCode(reports: readonly HostReport[]): ExitCode {
  if (reports.some(({ error }) => error !== undefined && DENIED.includes(error.code))) return EXIT.denied;
  if (reports.some(({ state }) => state === 'Error')) return EXIT.unavailable;
  return reports.some(({ state }) => state === 'Fail') ? EXIT.unhealthy : EXIT.ok;
}
