/** What every driver of control planes fulfills. It runs over the driver in memory and over real processes. */
import { describeBackups } from './contract/backups.ts';
import { describeBasics } from './contract/basics.ts';
import { describeBlockers } from './contract/blockers.ts';
import { describeCertificates } from './contract/certificates.ts';
import type { OpenBed } from './contract/faults.ts';
import { describeMembers } from './contract/members.ts';

export function describePlaneDriver(name: string, open: OpenBed): void {
  describeBasics(name, open);
  describeMembers(name, open);
  describeCertificates(name, open);
  describeBlockers(name, open);
  describeBackups(name, open);
}
