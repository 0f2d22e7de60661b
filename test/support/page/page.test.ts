import { describe, expect, it } from 'vitest';
import { parsePage } from './page.ts';

const PAGE = `# A page
\`\`\`sh
# only a comment
first "# no comment"   # a comment
\`\`\`
Text.
## One
\`\`\`yaml
kind: Machine
\`\`\`
- in a list
  \`\`\`sh
  second
    indented
  \`\`\`
\`\`\`
$ third --option
output
\`\`\`
### Without
\`\`\`
output
\`\`\`
`;

describe('a page', () => {
  it('has the statements of its shell blocks by section, and those behind a prompt', () => {
    expect(parsePage('page.md', PAGE).sections).toEqual([
      { title: 'A page', statements: ['first "# no comment"   # a comment'] },
      { title: 'One', statements: ['second', '  indented', 'third --option'] },
    ]);
  });

  it('has its other blocks by language', () => {
    expect(parsePage('page.md', PAGE).blocks('yaml')).toEqual(['kind: Machine\n']);
  });
});
