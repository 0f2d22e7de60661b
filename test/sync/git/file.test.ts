import { describe } from 'vitest';
import { openGit } from '../../../src/sync/git/open.ts';
import { tempFolder } from '../../support/temp.ts';
import { describeTransport, type TransportBed } from './conformance.ts';

describe('the git command with a local path, in a worker', () => {
  const root = tempFolder('file-root');
  describeTransport(
    (): TransportBed => ({
      name: 'file',
      open: openGit,
      root,
      optionsFor: (path) => ({ repository: `file://${root}/${path}` }),
      faults: [
        {
          name: 'no repository',
          code: 'NotFoundRepository',
          heal: () => undefined,
          arrange: () => ({ repository: `file://${root}` }),
        },
      ],
    }),
  );
});
