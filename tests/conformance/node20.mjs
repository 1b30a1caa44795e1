// The suite's bundle imports `globSync` from `fs`, which node has from version 22 on; only a command that is
// never run here calls it. Loaded with --import, this gives that one bundle a stand-in and leaves the rest alone.
import { register } from 'node:module';

const asModule = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const fsWithGlob = asModule(`
  export * from 'node:fs';
  export { default } from 'node:fs';
  export function globSync() { throw new Error('fs.globSync needs node 22'); }
`);
register(asModule(`
  export async function resolve(name, context, next) {
    const fromSuite = context.parentURL?.includes('/@modelcontextprotocol/conformance/dist/');
    if (fromSuite && (name === 'fs' || name === 'node:fs')) return { url: ${JSON.stringify(fsWithGlob)}, shortCircuit: true };
    return next(name, context);
  }
`));
