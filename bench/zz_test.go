package main
import ("testing";"os";"context";"fmt";"path/filepath";"strings";"strconv";"os/exec";"time";"syscall")
func pids(root int) []int { // children threads too
	out:=[]int{root}
	b,_:=exec.Command("pgrep","-P",strconv.Itoa(root)).Output()
	for _,f:=range strings.Fields(string(b)) { n,_:=strconv.Atoi(f); out=append(out,pids(n)...) }
	return out
}
func costs(root int, kids bool) (cpu time.Duration, vol, invol int) {
	ps:=[]int{root}; if kids {ps=pids(root)}
	for _,p:=range ps {
		c,_:=cpuTime(p); cpu+=c
		ts,_:=filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status",p))
		for _,t:=range ts { b,_:=os.ReadFile(t)
			for _,l:=range strings.Split(string(b),"\n") {
				f:=strings.Fields(l); if len(f)<2 {continue}
				n,_:=strconv.Atoi(f[1])
				if f[0]=="voluntary_ctxt_switches:" {vol+=n}; if f[0]=="nonvoluntary_ctxt_switches:" {invol+=n} } } }
	return
}
func TestZH(t *testing.T){
	wb:=os.Getenv("ZW"); if wb=="" {t.Skip()}
	exe:=os.Getenv("ZC")
	n,_:=strconv.Atoi(os.Getenv("ZN")); width,_:=strconv.Atoi(os.Getenv("ZWIDTH"))
	dir:=t.TempDir()
	b:=&bench{programs:programs{self:exe,workbench:wb,dir:dir}}
	ctx:=context.Background()
	ad,_:=freeAddresses(4)
	argv:=append([]string{exe,"child","--http",ad[0]})
	s,err:=start(ctx,argv,nil); if err!=nil{t.Fatal(err)}
	defer s.close()
	if h,err:=dialHTTP(ctx,"http://"+ad[0]+"/mcp",""); err!=nil {t.Fatal(err)} else {h.close()}
	nginx,err:=b.nginx(ad[1],ad[0]); if err!=nil{t.Fatal(err)}
	path,err:=b.write("through", map[string]any{"toolboxes": map[string]any{toolboxName: map[string]any{
		"description": "What is measured",
		"mcpServers":  map[string]any{serverName: map[string]any{"url": "http://" + ad[0] + "/mcp"}},
	}}})
	if err!=nil{t.Fatal(err)}
	token:=filepath.Join(dir,"token")
	fs:=[]front{*nginx,{name:"reverseproxy",url:"http://"+ad[3]+"/mcp",argv:[]string{"/tmp/speed/rproxy",ad[3],ad[0]}},{name: httpFront, url: "http://" + ad[2] + "/mcp", token: token, box: true, way: useTool,
		argv: []string{wb, "serve", "--config", path, "--log-level", "error", "--http", ad[2], "--token-file", token}}}
	if os.Getenv("ZONLY")!="" {fs=fs[2:]}
	for _,f:=range fs {
		c,err:=f.begin(ctx); if err!=nil{t.Fatal(err)}
		q,err:=answerOf(c.caller,c.way,"200 B"); if err!=nil{t.Fatal(err)}
		if _,_,err:=c.Crowd(q,width,effort{calls:n/4}); err!=nil{t.Fatal(err)}
		pid:=c.cmd.Process.Pid
		kids:=f.name==nginxFront
		var prof *exec.Cmd
		if w:=os.Getenv("ZPERF"); w!="" && !kids { prof=exec.Command("perf","record","-g","-o",w,"-p",strconv.Itoa(pid)); prof.Stderr=os.Stderr; prof.Start(); time.Sleep(time.Second)}
		if w:=os.Getenv("ZSTRACE"); w!="" { 
			args:=[]string{"-f","-c","-o",w+"."+strings.ReplaceAll(f.name," ","")}
			for _,p:=range pids(pid) {args=append(args,"-p",strconv.Itoa(p)); if !kids {break}}
			prof=exec.Command("strace",args...); prof.Start(); time.Sleep(time.Second)}
		for range 3 {
		c0,v0,i0:=costs(pid,kids)
		begun:=time.Now()
		calls,_,err:=c.Crowd(q,width,effort{calls:n}); if err!=nil{t.Fatal(err)}
		took:=time.Since(begun)
		c1,v1,i1:=costs(pid,kids)
		k:=float64(calls)
		fmt.Printf("%s: cpu %.1f us/call, vol %.2f invol %.2f, %.0f calls/s\n",f.name,float64((c1-c0).Nanoseconds())/1e3/k,float64(v1-v0)/k,float64(i1-i0)/k,k/took.Seconds())
		}
		if prof!=nil {prof.Process.Signal(syscall.SIGINT);prof.Wait()}
		c.close()
	}
}
