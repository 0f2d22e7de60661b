/** README.md: from npm start through a commit and back, on the same machine. */
import { type Guide, proven } from './guide.ts';

const FLEET = '../my-fleet';
const STARTED = /^(?=[^]*A hub and three clusters are running)(?=[^]* {2}pipeline fleet )/;

export const readme: Guide = {
  path: 'README.md',
  expectations: [
    // Until the fleet is there. Then Ctrl-C, and what it left is on this machine.
    { at: 'npm start', until: STARTED, end: 'Ctrl-C' },
    { at: 'kubenode status --watch', until: /\bprod\b.*\bProven\b/, end: 'Ctrl-C' },
    // A plan with changes.
    { at: 'kubenode plan', exits: 2 },
    { at: 'commit -am', after: proven(FLEET) },
    { at: 'revert', after: proven(FLEET) },
  ],
};
