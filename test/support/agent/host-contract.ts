/** What the agent relies on in every implementation of the port Host. */
import { afterEach, beforeEach, describe } from 'vitest';
import { describeArtifacts } from './host-contract/artifacts.ts';
import { ContractBed, type ContractHost } from './host-contract/bed.ts';
import { describeFiles } from './host-contract/files.ts';
import { describeHostUnits } from './host-contract/host-units.ts';
import { describeNode } from './host-contract/node.ts';
import { describePrograms } from './host-contract/programs.ts';
import { describeUnits } from './host-contract/units.ts';

export { bytes, type ContractHost } from './host-contract/bed.ts';

export function describeHostContract(type: string, create: () => Promise<ContractHost>): void {
  describe(`the host ${type}`, () => {
    const bed = new ContractBed();

    beforeEach(async () => {
      await bed.open(await create());
    });

    afterEach(async () => {
      await bed.close();
    });

    describeFiles(bed);
    describeArtifacts(bed);
    describeUnits(bed);
    describeHostUnits(bed);
    describePrograms(bed);
    describeNode(bed);
  });
}
