/** `npm run requirements`: writes docs/requirements.md from the titles of the tests. */
import { writeFileSync } from 'node:fs';
import { readTitles } from './read.ts';
import { renderRequirements } from './titles.ts';

writeFileSync('docs/requirements.md', renderRequirements(readTitles()));
