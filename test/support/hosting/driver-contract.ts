/** What every driver of control planes fulfills. It runs over the driver in memory, over real processes, and over objects of a hub. */
import { describeApiServers } from './contract/api-servers.ts';
import { describeBackups } from './contract/backups.ts';
import { describeBasics } from './contract/basics.ts';
import { describeBlockers } from './contract/blockers.ts';
import { describeCertificates } from './contract/certificates.ts';
import { describeChanges } from './contract/changes.ts';
import { describeExposure } from './contract/exposure.ts';
import { type DriverTraits, type OpenBed } from './contract/faults.ts';
import { describeMembers } from './contract/members.ts';
import { describeRotation } from './contract/rotation.ts';

export function describePlaneDriver(name: string, open: OpenBed, traits: DriverTraits): void {
  describeBasics(name, open, traits);
  describeMembers(name, open, traits);
  describeChanges(name, open, traits);
  describeCertificates(name, open, traits);
  describeBlockers(name, open, traits);
  describeApiServers(name, open, traits);
  describeRotation(name, open, traits);
  if (traits.hasProcesses) describeExposure(name, open, traits);
  if (traits.takesBackups) describeBackups(name, open, traits);
}
