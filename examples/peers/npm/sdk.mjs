// The npm SDK's client: reads a job {command, args, env, calls} from argv, prints
// {tools, results} as JSON. Calls are made in turn.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const job = JSON.parse(process.argv[2]);
const client = new Client({ name: 'peer-npm-sdk', version: '1.0.0' }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command: job.command, args: job.args, env: job.env, stderr: 'inherit' }));
const tools = [];
for (let cursor; ;) {
  const page = await client.listTools(cursor ? { cursor } : {});
  tools.push(...page.tools);
  cursor = page.nextCursor;
  if (!cursor) break;
}
const results = [];
for (const call of job.calls) results.push(await client.callTool(call));
await client.close();
process.stdout.write(JSON.stringify({ tools, results }));
